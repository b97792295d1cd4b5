#!/usr/bin/env python3
"""Writes the golden .npy files beside this script, with real NumPy. Run once: pip install numpy && python3 generate.py"""
import pathlib

import numpy as np
from numpy.lib import format as npy

HERE = pathlib.Path(__file__).parent


def save(name, array, version=(1, 0)):
    with open(HERE / f"{name}.npy", "wb") as out:
        npy.write_array(out, array, version=version)


# Record i, element j of any rank holds (i * 31 + j * 7) % 120, so that one formula checks every file.
def values(shape, dtype):
    records = shape[0]
    elements = int(np.prod(shape[1:]))
    i = np.arange(records).reshape(-1, 1)
    j = np.arange(elements).reshape(1, -1)
    return ((i * 31 + j * 7) % 120).astype(dtype).reshape(shape)


for code in ["i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
             "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
    order = {"<": "le", ">": "be"}.get(code[0], "na")
    name = code.lstrip("<>")
    save(f"{name}-{order}-c", values((5, 3), code))
    save(f"{name}-{order}-fortran", np.asfortranarray(values((5, 3), code)))

save("bool", values((5, 3), "i4") % 2 == 1)
save("rank1", values((7,), "<i4"))
save("rank4-c", values((4, 2, 3, 5), "<i2"))
save("rank4-fortran", np.asfortranarray(values((4, 2, 3, 5), "<i2")))
save("rank4-fortran-be", np.asfortranarray(values((4, 2, 3, 5), ">i4")))
save("version2", values((5, 3), "<i4"), version=(2, 0))
save("version3", values((5, 3), "<i4"), version=(3, 0))
save("complex64", (values((5, 3), "<f4") + 1j * (values((5, 3), "<f4") + 1)).astype("<c8"))
save("complex128-be", (values((5, 3), "<f8") + 1j * (values((5, 3), "<f8") + 1)).astype(">c16"))
save("no-records", values((0, 3), "<i4"))
save("no-elements", np.zeros((5, 0), "<i4"))
save("scalar", np.array(7, "<i4"))
save("bytes", np.array([b"alpha", b"", b"be\0ta", b"tail\0\0"], "S8"))
save("text", np.array(["alpha", "", "标签", "\U0001F600x"], "<U5"))
save("text-be", np.array(["alpha", "", "标签", "\U0001F600x"], ">U5"))
save("bytes-rank2", np.array([[b"a", b"b"]], "S3"))
save("structured", np.zeros(3, dtype=[("a", "<i4"), ("b", "<f4")]))
save("datetime-us", np.array(["1970-01-01T00:00:00.000001", "2026-01-02T03:04:05.678901", "NaT"], "datetime64[us]"))
save("datetime-ms", np.array(["1970-01-01T00:00:00.001", "1969-12-31T23:59:59.999"], "datetime64[ms]"))
save("datetime-day", np.array(["1970-01-02", "NaT", "2026-01-02"], "datetime64[D]"))
save("datetime-month", np.array(["1970-01", "2026-01"], "datetime64[M]"))
save("timedelta", np.array([1, 2], "timedelta64[us]"))
save("longdouble", np.array([1.5], np.longdouble))
save("void", np.zeros(2, "V4"))
with open(HERE / "object.npy", "wb") as out:
    npy.write_array(out, np.array([1, "x"], dtype=object), allow_pickle=True)
