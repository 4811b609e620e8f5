//! Launch shapes.

use std::fmt;

/// Extents along x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are the axes")]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    /// All three extents multiplied.
    #[must_use]
    pub fn volume(self) -> u64 {
        // Three 32-bit numbers may overflow 64 bits; a launch that large is refused either way.
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.y, self.z) {
            (1, 1) => write!(f, "{}", self.x),
            (_, 1) => write!(f, "{}x{}", self.x, self.y),
            _ => write!(f, "{}x{}x{}", self.x, self.y, self.z),
        }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

/// What `<<<grid, block, dynamic_shared>>>` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Blocks of the launch.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of shared memory that each block gets beside what the kernel declares. A kernel with `#[dynamic_shared]` gets what
    /// it asks for without this.
    pub dynamic_shared: usize,
}

impl Shape {
    /// `grid` blocks of `block` threads.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), dynamic_shared: 0 }
    }

    /// With this many bytes of dynamic shared memory.
    #[must_use]
    pub fn with_shared(self, bytes: usize) -> Self {
        Self { dynamic_shared: bytes, ..self }
    }
}

impl<G: Into<Dim3>, B: Into<Dim3>> From<(G, B)> for Shape {
    fn from((grid, block): (G, B)) -> Self {
        Self::new(grid, block)
    }
}
