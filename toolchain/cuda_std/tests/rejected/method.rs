use cuda_std::kernel;

struct Sum;

impl Sum {
    #[kernel]
    pub unsafe fn k(&self, out: *mut f32) {}
}

fn main() {}
