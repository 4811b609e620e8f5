//! Special registers (PTX ISA, "Special Registers").

/// Those of three (formally four) elements.
const VECTORS: &[&str] =
    &["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

const SCALARS: &[&str] = &[
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "dynamic_smem_size",
    "aggr_smem_size",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "is_explicit_cluster",
    "cluster_ctarank",
    "cluster_nctarank",
    "current_graph_exec",
];

/// The name without `%`, if `name` is a special register.
pub(crate) fn special(name: &str) -> Option<&str> {
    let name = name.strip_prefix('%')?;
    let numbered = |prefix: &str, limit: u32| {
        let number = name.strip_prefix(prefix).map(|rest| rest.strip_suffix("_64").unwrap_or(rest));
        number.and_then(|n| n.parse().ok()).is_some_and(|n: u32| n < limit)
    };
    let known = SCALARS.contains(&name)
        || is_vector(name)
        || numbered("envreg", 32)
        || numbered("pm", 8)
        || numbered("reserved_smem_offset_", 2);
    known.then_some(name)
}

/// True for `tid` and the like, which have elements.
pub(crate) fn is_vector(name: &str) -> bool {
    VECTORS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::special;

    #[test]
    fn knows_them_by_name_and_number() {
        for name in ["%tid", "%envreg31", "%pm7", "%pm0_64", "%clock64", "%reserved_smem_offset_1"] {
            assert_eq!(special(name), Some(&name[1..]));
        }
        for name in ["tid", "%tidy", "%envreg32", "%pm8", "%pm", "%"] {
            assert_eq!(special(name), None, "{name}");
        }
    }
}
