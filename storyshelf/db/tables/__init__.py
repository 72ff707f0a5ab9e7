"""Every table, column, index and constraint; migrations are compared with this in a test."""

from storyshelf.db.tables.builds import (
    BuildProgressRow,
    BuildRow,
    BundleFileRow,
    EnvironmentRow,
    OrderDependenceRow,
    ShardRow,
    SnapshotRow,
    SteadinessRow,
    TraceRow,
)
from storyshelf.db.tables.content import (
    BlobRow,
    ProjectBlobRow,
)
from storyshelf.db.tables.deliveries import (
    AuditEventRow,
    ConnectionRow,
    DeliveryRow,
)
from storyshelf.db.tables.jobs import (
    ConsumerRow,
    JobAttemptRow,
    JobDoneRow,
    JobRow,
    LaneTagRow,
    RunningCapRow,
)
from storyshelf.db.tables.operations import (
    AlarmRow,
    JobMetricRow,
    LaneSampleRow,
    LeaderRow,
    MetricFlushRow,
    TickRow,
)
from storyshelf.db.tables.people import (
    MemberRow,
    ProjectRow,
    SessionRow,
    SignInLinkRow,
    TokenRow,
    UserRow,
)

__all__ = [
    "AlarmRow",
    "AuditEventRow",
    "BlobRow",
    "BuildProgressRow",
    "BuildRow",
    "BundleFileRow",
    "ConnectionRow",
    "ConsumerRow",
    "DeliveryRow",
    "EnvironmentRow",
    "JobAttemptRow",
    "JobDoneRow",
    "JobMetricRow",
    "JobRow",
    "LaneSampleRow",
    "LaneTagRow",
    "LeaderRow",
    "MemberRow",
    "MetricFlushRow",
    "OrderDependenceRow",
    "ProjectBlobRow",
    "ProjectRow",
    "RunningCapRow",
    "SessionRow",
    "ShardRow",
    "SignInLinkRow",
    "SnapshotRow",
    "SteadinessRow",
    "TickRow",
    "TokenRow",
    "TraceRow",
    "UserRow",
]
