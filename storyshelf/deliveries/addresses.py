"""Which addresses a delivery may be sent to: not everything that a server can reach is the web."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

# Where machines of a cloud are told their credentials; some of these are not private by number.
METADATA = frozenset(
    map(
        ip_address,
        ("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"),
    )
)
TRANSLATED = ip_network("64:ff9b::/96")  # an IPv4 address in IPv6's form
GIVEN_OUT = ip_network("2000::/3")  # all of IPv6 that is the internet's; the rest is for other uses


def is_open(address: Address) -> bool:
    """Tell whether the address is of the public internet."""
    real = _real(address)
    is_given_out = isinstance(real, IPv4Address) or real in GIVEN_OUT
    return is_given_out and real.is_global and not real.is_multicast and real not in METADATA


def is_never(address: Address) -> bool:
    """Tell whether nothing is ever sent there, whatever is allowed."""
    real = _real(address)
    is_nobody = real.is_unspecified or real.is_multicast or real.is_reserved
    return is_nobody or real.is_link_local or real in METADATA


def _real(address: Address) -> Address:
    """Return the address that is reached in the end, out of those that carry another."""
    if isinstance(address, IPv4Address):
        return address
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    carried = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())[1:])
    return next((inner for inner in carried if inner is not None), address)
