use cuda_std::kernel;

type Row<'a> = &'a [f32];
type Name = &'static str;

#[kernel]
pub unsafe fn row<'a>(row: Row<'a>) {}

#[kernel]
pub unsafe fn name(name: Name) {}

fn main() {}
