"""Numbers in a path, bounded as their columns are: what is beyond names nothing."""

from typing import Annotated

from fastapi import Path

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
BigId = Annotated[int, Path(ge=1, le=2**63 - 1)]
