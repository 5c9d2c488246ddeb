"""Amounts as people say them."""


def disk_space(size: float) -> str:
    """
    >>> disk_space(512), disk_space(45_300_000), disk_space(7.2e10)
    ('1 kB', '45 MB', '72 GB')
    """
    for unit, scale in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)):
        if size < 999.5 * scale or unit == "TB":
            value = size / scale
            return f"{value:.1f} {unit}" if 1 <= value < 10 else f"{max(value, 1):.0f} {unit}"
    raise AssertionError
