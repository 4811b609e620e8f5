//! Textures and surfaces. The CPU device has none yet.

use std::ffi::c_void;

use crate::entry::driver_functions;
use crate::types::{CUsurfObject, CUtexObject};

driver_functions! {
    /// Makes a texture.
    call cuTexObjectCreate(
        texture: *mut CUtexObject,
        resource: *const c_void,
        description: *const c_void,
        view: *const c_void,
    );
    /// Destroys a texture.
    call cuTexObjectDestroy(texture: CUtexObject);
    /// What a texture is of.
    call cuTexObjectGetResourceDesc(resource: *mut c_void, texture: CUtexObject);
    /// Makes a surface.
    call cuSurfObjectCreate(surface: *mut CUsurfObject, resource: *const c_void);
    /// Destroys a surface.
    call cuSurfObjectDestroy(surface: CUsurfObject);
    /// What a surface is of.
    call cuSurfObjectGetResourceDesc(resource: *mut c_void, surface: CUsurfObject);
}
