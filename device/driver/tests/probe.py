import ctypes as C, os, sys
L=C.CDLL("libcuda.so.1")
u64=C.c_uint64; P=C.c_void_p
def i(x=0): return C.c_int(x)
VALS=(C.c_void_p,)
PTX=lambda v,t,b: (".version %s\n.target %s\n.address_size 64\n%s\n"%(v,t,b)).encode()+b"\0"
BODY="""
.visible .global .align 4 .u32 gvar;
.visible .entry k(.param .u64 p){ .reg .u64 %rd<3>; .reg .u32 %r<3>; ld.param.u64 %rd1,[p]; mov.u32 %r1,7; st.u32 [%rd1],%r1; ret;}
.visible .entry tr(){ trap; ret;}
.visible .entry lim() .maxntid 64,1,1 { ret;}
.visible .entry req() .reqntid 64,1,1 { ret;}
.visible .entry spin(.param .u64 p){ .reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p<2>; ld.param.u64 %rd1,[p]; L: ld.volatile.u32 %r1,[%rd1]; setp.eq.u32 %p1,%r1,0; @%p1 bra L; ret;}
.visible .entry mis(.param .u64 p){ .reg .u64 %rd<3>; .reg .u32 %r<3>; ld.param.u64 %rd1,[p]; mov.u32 %r1,7; st.u32 [%rd1+1],%r1; ret;}
.extern .func __assertfail(.param .b64 a,.param .b64 b,.param .b32 c,.param .b64 d,.param .b64 e);
.global .align 1 .b8 msg[2]={65,0};
.visible .entry asr(){ .reg .u64 %rd<3>; mov.u64 %rd1,msg; cvta.global.u64 %rd2,%rd1; { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a],%rd2; st.param.b64 [b],%rd2; st.param.b32 [c],7; st.param.b64 [d],%rd2; st.param.b64 [e],1; call.uni __assertfail,(a,b,c,d,e);} ret;}
"""
def out(name,*v): print(name,*v,flush=True)
def f(name,*a):
    r=getattr(L,name)(*a); return r
def ctx():
    f("cuInit",0); c=P(); f("cuCtxCreate_v2",C.byref(c),0,0); return c
def load(v="7.0",t="sm_70",b=BODY):
    m=P(); r=f("cuModuleLoadData",C.byref(m),PTX(v,t,b)); return r,m
def fn(m,n):
    h=P(); r=f("cuModuleGetFunction",C.byref(h),m,n.encode()); return r,h
def launch(h,g=(1,1,1),b=(1,1,1),s=0,st=None,args=()):
    arr=(P*max(1,len(args)))(*[C.cast(C.pointer(a),P) for a in args])
    return f("cuLaunchKernel",h,*[C.c_uint(x) for x in g],*[C.c_uint(x) for x in b],C.c_uint(s),st,arr if args else None,None)
def group(fu):
    pid=os.fork()
    if pid==0:
        try: fu()
        except Exception as e: out("EXC",fu.__name__,e)
        os._exit(0)
    _,st=os.waitpid(pid,0)
    if st: out("CRASH",fu.__name__,st)
def g_pre():
    c=P();x=i();
    out("before init: getcurrent",f("cuCtxGetCurrent",C.byref(c)),"version",f("cuDriverGetVersion",C.byref(x)),x.value,"count",f("cuDeviceGetCount",C.byref(x)),"sync",f("cuCtxSynchronize"))
    out("cuInit(1)",f("cuInit",1),"cuInit(0)",f("cuInit",0))
    s=P();d=u64();m=P()
    out("noctx: sync",f("cuCtxSynchronize"),"alloc",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(4)),"getdev",f("cuCtxGetDevice",C.byref(x)),"stream",f("cuStreamCreate",C.byref(s),0),"pop",f("cuCtxPopCurrent_v2",C.byref(c)),"push0",f("cuCtxPushCurrent_v2",None),"set0",f("cuCtxSetCurrent",None),"getcur",f("cuCtxGetCurrent",C.byref(c)),c.value,"memget0",f("cuCtxGetCurrent",None),"load",f("cuModuleLoadData",C.byref(m),PTX("7.0","sm_70",BODY)))
    out("dev: get5",f("cuDeviceGet",C.byref(x),5),"get-1",f("cuDeviceGet",C.byref(x),-1),"null",f("cuDeviceGet",None,0),"attr9999",f("cuDeviceGetAttribute",C.byref(x),9999,0),"attr0",f("cuDeviceGetAttribute",C.byref(x),0,0),"dev7",f("cuDeviceGetAttribute",C.byref(x),1,7),"nullname",f("cuDeviceGetName",None,4,0))
    b=C.create_string_buffer(8); out("name len4",f("cuDeviceGetName",b,4,0),b.raw,"len0",f("cuDeviceGetName",b,0,0))
    n=C.c_char_p(); out("str 99999",f("cuGetErrorString",99999,C.byref(n)),n.value,"name700",f("cuGetErrorName",700,C.byref(n)),n.value,"nullstr",f("cuGetErrorString",1,None))
def g_primary():
    f("cuInit",0);c=P();c2=P()
    out("prim release unretained",f("cuDevicePrimaryCtxRelease_v2",0))
    out("retain",f("cuDevicePrimaryCtxRetain",C.byref(c),0),"set",f("cuCtxSetCurrent",c),"setflags active",f("cuDevicePrimaryCtxSetFlags_v2",0,4))
    fl=C.c_uint();ac=i();f("cuDevicePrimaryCtxGetState",0,C.byref(fl),C.byref(ac));out("state",fl.value,ac.value)
    out("flags",f("cuCtxGetFlags",C.byref(fl)),fl.value)
    out("destroy primary",f("cuCtxDestroy_v2",c))
    f("cuDevicePrimaryCtxRelease_v2",0)
    d=u64();f("cuDevicePrimaryCtxGetState",0,C.byref(fl),C.byref(ac));out("after release: active",ac.value,"alloc",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(4)),"getcur",f("cuCtxGetCurrent",C.byref(c2)),c2.value==c.value,"sync",f("cuCtxSynchronize"))
    f("cuDevicePrimaryCtxRetain",C.byref(c2),0);out("retain same handle",c2.value==c.value,"alloc",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(4)))
    out("reset",f("cuDevicePrimaryCtxReset_v2",0),"alloc after",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(4)),"sync",f("cuCtxSynchronize"));f("cuDevicePrimaryCtxGetState",0,C.byref(fl),C.byref(ac));out("active",ac.value,"release after reset",f("cuDevicePrimaryCtxRelease_v2",0),"again",f("cuDevicePrimaryCtxRelease_v2",0))
def g_ctx():
    c=ctx();v=C.c_uint();x=i();y=i();sz=C.c_size_t()
    out("api",f("cuCtxGetApiVersion",c,C.byref(v)),v.value,"prio",f("cuCtxGetStreamPriorityRange",C.byref(x),C.byref(y)),x.value,y.value)
    out("cache",f("cuCtxGetCacheConfig",C.byref(x)),x.value,"shared",f("cuCtxGetSharedMemConfig",C.byref(x)),x.value,"setcache9",f("cuCtxSetCacheConfig",9))
    for l in range(10): out("limit",l,f("cuCtxGetLimit",C.byref(sz),l),sz.value)
    out("setlimit stack",f("cuCtxSetLimit",0,C.c_size_t(4096)),"setlimit99",f("cuCtxSetLimit",99,C.c_size_t(4096)))
    s=P();out("stream badflags",f("cuStreamCreate",C.byref(s),8),"ok",f("cuStreamCreateWithPriority",C.byref(s),1,-100))
    out("flags",f("cuStreamGetFlags",s,C.byref(v)),v.value,"prio",f("cuStreamGetPriority",s,C.byref(x)),x.value,"null",f("cuStreamGetFlags",None,C.byref(v)),v.value,f("cuStreamGetPriority",None,C.byref(x)),x.value,"destroy null",f("cuStreamDestroy_v2",None),"legacy",f("cuStreamGetFlags",P(1),C.byref(v)),v.value,"pt",f("cuStreamGetFlags",P(2),C.byref(v)),v.value,"destroy1",f("cuStreamDestroy_v2",P(1)))
    c3=P();out("push/pop",f("cuCtxPushCurrent_v2",c),f("cuCtxDestroy_v2",c),"getcur",f("cuCtxGetCurrent",C.byref(c3)),c3.value==c.value,"sync",f("cuCtxSynchronize"),"dev",f("cuCtxGetDevice",C.byref(x)),"pop",f("cuCtxPopCurrent_v2",C.byref(c3)),"getcur",f("cuCtxGetCurrent",C.byref(c3)),c3.value)
def g_ctx2():
    c=ctx();x=i();c3=P();f("cuCtxCreate_v2",C.byref(c3),0,0);out("destroy not-current",f("cuCtxDestroy_v2",c));f("cuCtxPopCurrent_v2",C.byref(c3));out("now stale: sync",f("cuCtxSynchronize"),"getcur",f("cuCtxGetCurrent",C.byref(c3)),c3.value)
def g_ctx3():
    c=ctx();f("cuCtxDestroy_v2",c);out("destroy twice",f("cuCtxDestroy_v2",c));out("set destroyed",f("cuCtxSetCurrent",c))
def g_mem():
    ctx();d=u64();h=P();t=C.c_size_t()
    out("alloc0",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(0)),"huge",f("cuMemAlloc_v2",C.byref(d),C.c_size_t(1<<50)),"null",f("cuMemAlloc_v2",None,C.c_size_t(4)))
    out("free0",f("cuMemFree_v2",u64(0)),"host0",f("cuMemAllocHost_v2",C.byref(h),C.c_size_t(0)),"man0",f("cuMemAllocManaged",C.byref(d),C.c_size_t(0),1),"manflag0",f("cuMemAllocManaged",C.byref(d),C.c_size_t(4),0),"manflag7",f("cuMemAllocManaged",C.byref(d),C.c_size_t(4),7),"freehost0",f("cuMemFreeHost",None))
    f("cuMemAlloc_v2",C.byref(d),C.c_size_t(1024));b=C.create_string_buffer(8192)
    out("free mid",f("cuMemFree_v2",u64(d.value+4)),"HtoD 0",f("cuMemcpyHtoD_v2",u64(0),b,C.c_size_t(0)),"HtoD null",f("cuMemcpyHtoD_v2",d,None,C.c_size_t(4)),"HtoD wild",f("cuMemcpyHtoD_v2",u64(0x1234000),b,C.c_size_t(4)),"beyond",f("cuMemcpyHtoD_v2",u64(d.value+1020),b,C.c_size_t(8)),"memset0",f("cuMemsetD32_v2",d,0,C.c_size_t(0)),"memset misal",f("cuMemsetD32_v2",u64(d.value+1),0,C.c_size_t(1)),"memset wild",f("cuMemsetD32_v2",u64(0x1234000),0,C.c_size_t(1)),"DtoD wild",f("cuMemcpyDtoD_v2",d,u64(0x1234000),C.c_size_t(4)))
    f("cuMemAllocHost_v2",C.byref(h),C.c_size_t(64));out("cuMemFree(pinned)",f("cuMemFree_v2",u64(h.value)));out("freehost",f("cuMemFreeHost",h),"again",f("cuMemFreeHost",h),"freehost(dev)",f("cuMemFreeHost",P(d.value)))
    out("free",f("cuMemFree_v2",d),"again",f("cuMemFree_v2",d))
    out("allocasync0",f("cuMemAllocAsync",C.byref(d),C.c_size_t(0),None),d.value,"allocasync",f("cuMemAllocAsync",C.byref(d),C.c_size_t(64),None),"freeasync",f("cuMemFreeAsync",d,None),"again",f("cuMemFreeAsync",d,None),"freeasync 0",f("cuMemFreeAsync",u64(0),None))
    out("getinfo null",f("cuMemGetInfo_v2",None,C.byref(t)),"advise wild",f("cuMemAdvise",u64(0x1000),C.c_size_t(4),1,0))
    f("cuMemAlloc_v2",C.byref(d),C.c_size_t(1024));out("advise dev",f("cuMemAdvise",d,C.c_size_t(4),1,0),"prefetch dev",f("cuMemPrefetchAsync",d,C.c_size_t(4),0,None))
    pa=C.c_uint();out("ptrattr wild",f("cuPointerGetAttribute",C.byref(pa),2,u64(0x1234)),"dev",f("cuPointerGetAttribute",C.byref(pa),2,d),pa.value)
    pa=u64();out("range start",f("cuPointerGetAttribute",C.byref(pa),11,u64(d.value+8)),pa.value==d.value,"size",f("cuPointerGetAttribute",C.byref(pa),12,d),pa.value,"hostptr",f("cuPointerGetAttribute",C.byref(pa),4,d))
def g_mod():
    ctx();r,m=load();out("load",r);
    for v,t in (("7.0","sm_100"),("9.9","sm_70"),("9.0","sm_90a"),("9.0","sm_80a"),("6.0","sm_30"),("3.0","sm_70")): out("load",v,t,load(v,t)[0])
    out("garbage",f("cuModuleLoadData",C.byref(m),b"hello world\0"),"empty",f("cuModuleLoadData",C.byref(m),b"\0"),"elf",f("cuModuleLoadData",C.byref(m),b"\x7fELF"+b"\0"*200),"fat",f("cuModuleLoadData",C.byref(m),b"\x50\xed\x55\xba\x01\x00\x10\x00"+b"\0"*200),"null",f("cuModuleLoadData",C.byref(m),None),"nofile",f("cuModuleLoad",C.byref(m),b"/nonexist"))
    out("badinstr",load(b=".visible .entry k(){ foo.u32 a; ret;}")[0],"extern undefined",load(b=".extern .func foo();\n.visible .entry k(){ call.uni foo,(); ret;}")[0])
    log=C.create_string_buffer(1000);opts=(C.c_int*2)(5,6);vals=(P*2)(C.cast(log,P),1000)
    out("log",f("cuModuleLoadDataEx",C.byref(m),PTX("7.0","sm_70",".visible .entry k(){ foo.u32 a; ret;}"),2,opts,vals),vals[1],log.value)
    vals=(P*2)(C.cast(log,P),1000);out("log222",f("cuModuleLoadDataEx",C.byref(m),PTX("9.9","sm_70",BODY),2,opts,vals),vals[1],log.value)
    vals=(P*2)(C.cast(log,P),1000);out("log100",f("cuModuleLoadDataEx",C.byref(m),PTX("9.0","sm_100",BODY),2,opts,vals),vals[1],log.value)
    opts=(C.c_int*1)(99);out("opt99",f("cuModuleLoadDataEx",C.byref(m),PTX("7.0","sm_70",BODY),1,opts,vals))
    r,m=load();r,a=fn(m,"k");r2,b=fn(m,"k");out("fn twice same",a.value==b.value,"nope",fn(m,"nope")[0],"fn of var",fn(m,"gvar")[0])
    d=u64();s=C.c_size_t();out("global",f("cuModuleGetGlobal_v2",C.byref(d),C.byref(s),m,b"gvar"),s.value,"nope",f("cuModuleGetGlobal_v2",C.byref(d),C.byref(s),m,b"nope"),"kernel",f("cuModuleGetGlobal_v2",C.byref(d),C.byref(s),m,b"k"),"both null",f("cuModuleGetGlobal_v2",None,None,m,b"gvar"))
    x=i()
    for n in ("k","lim","req"):
        h=fn(m,n)[1];out("attrs",n,[(f("cuFuncGetAttribute",C.byref(x),q,h),x.value) for q in range(18)])
    h=fn(m,"k")[1];out("occ",f("cuOccupancyMaxActiveBlocksPerMultiprocessor",C.byref(x),h,0,C.c_size_t(0)),"2048",f("cuOccupancyMaxActiveBlocksPerMultiprocessor",C.byref(x),h,2048,C.c_size_t(0)),x.value,"smem1M",f("cuOccupancyMaxActiveBlocksPerMultiprocessor",C.byref(x),h,32,C.c_size_t(1<<20)),x.value)
    out("avail",[(f("cuOccupancyAvailableDynamicSMemPerBlock",C.byref(s),h,nb,32),s.value) for nb in (0,1,2,32,100)])
def g_launch():
    ctx();r,m=load();d=u64();f("cuMemAlloc_v2",C.byref(d),C.c_size_t(64));k=fn(m,"k")[1]
    for nm,g,b,s in (("g0",(0,1,1),(1,1,1),0),("b0",(1,1,1),(0,1,1),0),("b1025",(1,1,1),(1025,1,1),0),("b32x33",(1,1,1),(32,33,1),0),("bz65",(1,1,1),(1,1,65),0),("gy65536",(1,65536,1),(1,1,1),0),("gx2^31",(1<<31,1,1),(1,1,1),0),("sm48K",(1,1,1),(1,1,1),49152),("sm48K+1",(1,1,1),(1,1,1),49153),("sm1M",(1,1,1),(1,1,1),1<<20)): out("launch",nm,launch(k,g,b,s,args=(d,)))
    out("lim65",launch(fn(m,"lim")[1],b=(65,1,1)),"lim64",launch(fn(m,"lim")[1],b=(64,1,1)),"lim 8x8",launch(fn(m,"lim")[1],b=(8,8,1)),"req32",launch(fn(m,"req")[1],b=(32,1,1)),"req 8x8",launch(fn(m,"req")[1],b=(8,8,1)))
    out("setattr dyn 100K",f("cuFuncSetAttribute",k,8,100*1024),"launch100K",launch(k,s=100*1024,args=(d,)),"setattr 1M",f("cuFuncSetAttribute",k,8,1<<20),"neg",f("cuFuncSetAttribute",k,8,-1),"ro",f("cuFuncSetAttribute",k,0,5))
    e=(P*5)(1,C.cast(C.pointer(d),P),2,C.cast(C.pointer(C.c_size_t(8)),P),0);U=[C.c_uint(1)]*6
    out("extra",f("cuLaunchKernel",k,*U,0,None,None,e));e=(P*5)(1,C.cast(C.pointer(d),P),2,C.cast(C.pointer(C.c_size_t(4)),P),0);out("extra short",f("cuLaunchKernel",k,*U,0,None,None,e));e=(P*5)(1,C.cast(C.pointer(d),P),2,C.cast(C.pointer(C.c_size_t(16)),P),0);out("extra long",f("cuLaunchKernel",k,*U,0,None,None,e));arr=(P*1)(C.cast(C.pointer(d),P));out("both",f("cuLaunchKernel",k,*U,0,None,arr,e));e=(P*1)(0);out("extra empty",f("cuLaunchKernel",k,*U,0,None,None,e))
    out("sync",f("cuCtxSynchronize"))
def g_null(): 
    ctx();r,m=load();k=fn(m,"k")[1];out("null params",launch(k))
def g_ev():
    ctx();e=P();e2=P();q=C.c_float();r,m=load();h=P();f("cuMemAllocHost_v2",C.byref(h),C.c_size_t(64));C.memset(h,0,64);s=P();f("cuStreamCreate",C.byref(s),1)
    f("cuEventCreate",C.byref(e),0);f("cuEventCreate",C.byref(e2),0);e3=P();f("cuEventCreate",C.byref(e3),2)
    out("never rec: query",f("cuEventQuery",e),"sync",f("cuEventSynchronize",e),"elapsed",f("cuEventElapsedTime",C.byref(q),e,e2),"wait",f("cuStreamWaitEvent",s,e,0),"waitflag7",f("cuStreamWaitEvent",s,e,7),"badflags",f("cuEventCreate",C.byref(P()),64),"interproc",f("cuEventCreate",C.byref(P()),4))
    f("cuEventRecord",e,s);d=u64(h.value);out("spin",launch(fn(m,"spin")[1],st=s,args=(d,)));f("cuEventRecord",e2,s);f("cuEventRecord",e3,s)
    out("query",f("cuEventQuery",e2),"elapsed",f("cuEventElapsedTime",C.byref(q),e,e2),"squery",f("cuStreamQuery",s),"elapsed notiming",f("cuEventElapsedTime",C.byref(q),e,e3),"destroy pending event",f("cuEventDestroy_v2",e3))
    C.memset(h,1,64);out("sync",f("cuStreamSynchronize",s),"elapsed",f("cuEventElapsedTime",C.byref(q),e,e2),"null",f("cuEventElapsedTime",None,e,e2),"rev",f("cuEventElapsedTime",C.byref(q),e2,e),q.value<0)
    out("ev null",f("cuEventQuery",None),f("cuEventRecord",None,s),f("cuEventDestroy_v2",None))
    res=[];CB=C.CFUNCTYPE(None,P);x=i();dd=u64()
    def cb(_): res.append((f("cuCtxSynchronize"),f("cuMemAlloc_v2",C.byref(dd),C.c_size_t(4)),f("cuCtxGetCurrent",C.byref(P())),f("cuDeviceGetCount",C.byref(x)),f("cuDriverGetVersion",C.byref(x)),f("cuEventQuery",e),f("cuStreamQuery",s)))
    k=CB(cb);out("hostfn",f("cuLaunchHostFunc",s,k,None),f("cuStreamSynchronize",s),res,"null",f("cuLaunchHostFunc",s,None,None))
    c=P();f("cuCtxPopCurrent_v2",C.byref(c));out("no ctx current: evquery",f("cuEventQuery",e),"squery",f("cuStreamQuery",s),"ssync",f("cuStreamSynchronize",s),"evdestroy",f("cuEventDestroy_v2",e),"sdestroy",f("cuStreamDestroy_v2",s),"unload",f("cuModuleUnload",m),"getfn",fn(m,"k")[0],"freehost",f("cuMemFreeHost",h))
def g_stale_stream():
    ctx();s=P();f("cuStreamCreate",C.byref(s),0);f("cuStreamDestroy_v2",s);out("stale stream sync",f("cuStreamSynchronize",s),"destroy",f("cuStreamDestroy_v2",s))
def g_stale_event():
    ctx();s=P();f("cuEventCreate",C.byref(s),0);f("cuEventDestroy_v2",s);out("stale event query",f("cuEventQuery",s),"destroy",f("cuEventDestroy_v2",s))
def g_stale_mod():
    ctx();r,m=load();k=fn(m,"k")[1];f("cuModuleUnload",m);out("stale module getfn",fn(m,"k")[0]);out("unload again",f("cuModuleUnload",m))
def g_wild():
    ctx();out("wild stream",f("cuStreamSynchronize",P(0x1234560)))
def g_wild2():
    ctx();out("wild event",f("cuEventQuery",P(0x1234560)))
def fault(n,*a):
    def go():
        c=ctx();r,m=load();d=u64();f("cuMemAlloc_v2",C.byref(d),C.c_size_t(64));s=P();f("cuStreamCreate",C.byref(s),0);e=P();f("cuEventCreate",C.byref(e),0);x=i();t=C.c_size_t();c2=P();h=P();f("cuMemAllocHost_v2",C.byref(h),C.c_size_t(64))
        args=[u64(0x40) if a[0]=="wild" else d] if a else []
        out("FAULT",n,"launch",launch(fn(m,n)[1],st=s,args=args),"sync",f("cuStreamSynchronize",s))
        out("  then: ctxsync",f("cuCtxSynchronize"),"alloc",f("cuMemAlloc_v2",C.byref(u64()),C.c_size_t(4)),"evquery",f("cuEventQuery",e),"evcreate",f("cuEventCreate",C.byref(P()),0),"record",f("cuEventRecord",e,s),"getinfo",f("cuMemGetInfo_v2",C.byref(t),C.byref(t)),"getdev",f("cuCtxGetDevice",C.byref(x)),"devattr",f("cuDeviceGetAttribute",C.byref(x),1,0),"getcur",f("cuCtxGetCurrent",C.byref(c2)),"getlimit",f("cuCtxGetLimit",C.byref(t),0),"flags",f("cuCtxGetFlags",C.byref(x)),"getfn",fn(m,"k")[0],"fnattr",f("cuFuncGetAttribute",C.byref(x),0,fn(m,"k")[1]),"load",load()[0],"ptrattr",f("cuPointerGetAttribute",C.byref(u64()),2,d),"apiver",f("cuCtxGetApiVersion",c,C.byref(x)),"sflags",f("cuStreamGetFlags",s,C.byref(x)))
        out("  teardown: free",f("cuMemFree_v2",d),"freehost",f("cuMemFreeHost",h),"sdestroy",f("cuStreamDestroy_v2",s),"edestroy",f("cuEventDestroy_v2",e),"unload",f("cuModuleUnload",m),"ctxdestroy",f("cuCtxDestroy_v2",c))
        c3=P();out("  new ctx",f("cuCtxCreate_v2",C.byref(c3),0,0));r,m=load();f("cuMemAlloc_v2",C.byref(d),C.c_size_t(64));out("  new: load",r,"launch",launch(fn(m,"k")[1],args=[d]),"sync",f("cuCtxSynchronize"))
    go.__name__="fault_"+n;return go
def g_primfault():
    f("cuInit",0);c=P();f("cuDevicePrimaryCtxRetain",C.byref(c),0);f("cuCtxSetCurrent",c);r,m=load();launch(fn(m,"tr")[1]);out("PRIM fault",f("cuCtxSynchronize"),"reset",f("cuDevicePrimaryCtxReset_v2",0),"sync",f("cuCtxSynchronize"),"release",f("cuDevicePrimaryCtxRelease_v2",0),"retain",f("cuDevicePrimaryCtxRetain",C.byref(c),0),"set",f("cuCtxSetCurrent",c),"alloc",f("cuMemAlloc_v2",C.byref(u64()),C.c_size_t(4)),"load",load()[0])
def g_primfault2():
    f("cuInit",0);c=P();f("cuDevicePrimaryCtxRetain",C.byref(c),0);f("cuCtxSetCurrent",c);r,m=load();launch(fn(m,"tr")[1]);c2=P();out("PRIM fault",f("cuCtxSynchronize"),"other ctx create",f("cuCtxCreate_v2",C.byref(c2),0,0),"alloc",f("cuMemAlloc_v2",C.byref(u64()),C.c_size_t(4)))
for g in [g_pre,g_primary,g_ctx,g_ctx2,g_ctx3,g_mem,g_mod,g_launch,g_null,g_ev,g_stale_stream,g_stale_event,g_stale_mod,g_wild,g_wild2,fault("k","wild"),fault("mis",1),fault("tr"),fault("asr"),g_primfault,g_primfault2]: group(g)
