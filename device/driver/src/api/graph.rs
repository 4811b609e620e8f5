//! Graphs. The CPU device has none yet.

use std::ffi::{c_char, c_void};

use crate::entry::driver_functions;
use crate::types::{CEnum, CUgraph, CUgraphNode};

driver_functions! {
    /// Makes a graph.
    call cuGraphCreate(graph: *mut CUgraph, flags: u32);
    /// Destroys a graph.
    call cuGraphDestroy(graph: CUgraph);
    /// Adds a kernel to a graph.
    call cuGraphAddKernelNode(
        node: *mut CUgraphNode,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
        params: *const c_void,
    );
    /// Parameters of a kernel node.
    call cuGraphKernelNodeGetParams(node: CUgraphNode, params: *mut c_void);
    /// Nodes of a graph.
    call cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    /// Edges of a graph.
    call cuGraphGetEdges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize);
    /// What a node does.
    call cuGraphNodeGetType(node: CUgraphNode, kind: *mut CEnum);
    /// Draws a graph.
    call cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: u32);
}
