//! Stores that zarr-python, xarray and tensorstore wrote, read: `tests/oracle/zarr_golden.py` makes them.

use std::path::Path;

use crate::common::each;

#[test]
fn stores_hold_what_their_npy_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/zarr");
    let entries = std::fs::read_dir(&folder).expect("golden files");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter_map(|name| name.strip_suffix(".npy").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() > 40, "{names:?}");
    each(
        &names,
        |name| (*name).clone(),
        |name| {
            let expected = tensorop::read(folder.join(format!("{name}.npy"))).map_err(|error| error.to_string())?;
            let stores = match name.strip_prefix("xarray-") {
                Some(member) => vec![format!("xarray_v2.zarr:{member}"), format!("xarray_v3.zarr:{member}")],
                None => vec![format!("{name}.zarr")],
            };
            for store in stores {
                let found = tensorop::read(folder.join(&store)).map_err(|error| error.to_string())?;
                let same = (found.shape(), found.bytes()) == (expected.shape(), expected.bytes());
                // a void of two bytes is bfloat16 in a .npy alone
                let dtype = found.dtype() == expected.dtype() || name.starts_with("dtype_V2");
                if !same || !dtype {
                    return Err(format!("{store}: {} {:?}", found.dtype(), found.shape()));
                }
            }
            Ok(())
        },
    );
}
