//! Statics where the compiler cannot place them, and shared memory that promises a value.

use core::mem::MaybeUninit;
use cuda_std::{address_space, shared_array};

#[address_space(constant)]
static TABLE: [f32; 4] = [0.0; 4];

#[address_space(global)]
static mut COUNTER: u32 = 0;

#[address_space]
static mut ANY: u32 = 0;

#[address_space(shared)]
static mut ZEROED: [f32; 4] = [0.0; 4];

#[address_space(shared)]
static FIXED: [MaybeUninit<f32>; 4] = [const { MaybeUninit::uninit() }; 4];

#[address_space(shared)]
static mut TOO_MUCH: MaybeUninit<[u8; 49153]> = MaybeUninit::uninit();

fn no_length() -> *mut f32 {
    shared_array![f32]
}

fn of_a_parameter<T>() -> *mut T {
    shared_array![T; 4]
}

#[repr(align(32))]
struct Wide(u8);

fn aligned_too_far() -> *mut Wide {
    shared_array![Wide; 4]
}

fn main() {}
