"""Distinct types for every id, and the key that names one picture in a build."""

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

ProjectId = NewType("ProjectId", int)
TokenId = NewType("TokenId", int)
UserId = NewType("UserId", int)
SessionId = NewType("SessionId", int)
ConnectionId = NewType("ConnectionId", int)
DeliveryId = NewType("DeliveryId", int)
BuildId = NewType("BuildId", int)
ShardId = NewType("ShardId", int)
SnapshotId = NewType("SnapshotId", int)
JobId = NewType("JobId", int)
LeaseToken = NewType("LeaseToken", UUID)
ConsumerId = NewType("ConsumerId", str)  # host + pid + nonce: unique per incarnation
BlobKey = NewType("BlobKey", str)  # sha256 of the content, 64 lower-case hex digits
EnvironmentId = NewType("EnvironmentId", str)  # fingerprint of browser, flags, fonts, architecture
StoryId = NewType("StoryId", str)

DEFAULT_MODE = "default"
DEFAULT_BROWSER = "chromium"


@dataclass(frozen=True, slots=True, order=True)
class SnapshotKey:
    """Story x mode x browser: what is compared with its own past and nothing else."""

    story_id: StoryId
    mode: str = DEFAULT_MODE
    browser: str = DEFAULT_BROWSER
