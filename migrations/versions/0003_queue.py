"""The whole queue: parked jobs, traces, a leader with its ticks, metrics, samples and progress.

Written out rather than made from `storyshelf.db.tables`, which moves on; a test holds the two
together.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE running_caps (
        project_id bigint,
        most integer NOT NULL,
        CONSTRAINT pk_running_caps PRIMARY KEY (project_id),
        CONSTRAINT ck_running_caps_most CHECK (most >= 1)
    )
    """,
    """
    CREATE TABLE leaders (
        name text,
        holder text NOT NULL,
        term bigint NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT pk_leaders PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE ticks (
        task text,
        tick timestamptz,
        skipped integer DEFAULT 0 NOT NULL,
        term bigint,
        ran_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_ticks PRIMARY KEY (task, tick)
    )
    """,
    """
    CREATE TABLE alarms (
        name text,
        count bigint NOT NULL,
        first_at timestamptz DEFAULT now() NOT NULL,
        last_at timestamptz DEFAULT now() NOT NULL,
        detail jsonb DEFAULT '{}' NOT NULL,
        CONSTRAINT pk_alarms PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE job_metrics (
        width text,
        start_at timestamptz,
        kind text,
        outcome text,
        count bigint NOT NULL,
        attempts bigint NOT NULL,
        wait_ms bigint NOT NULL,
        run_ms bigint NOT NULL,
        wait_histogram bigint[] NOT NULL,
        run_histogram bigint[] NOT NULL,
        CONSTRAINT pk_job_metrics PRIMARY KEY (width, start_at, kind, outcome),
        CONSTRAINT ck_job_metrics_width CHECK (width IN ('minute', 'hour', 'day'))
    )
    """,
    """
    CREATE TABLE metric_flushes (
        nonce uuid,
        sequence bigint,
        flushed_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_metric_flushes PRIMARY KEY (nonce, sequence)
    )
    """,
    "CREATE INDEX ix_metric_flushes_flushed_at ON metric_flushes (flushed_at)",
    """
    CREATE TABLE lane_samples (
        minute timestamptz,
        lane text,
        priority smallint,
        queued bigint NOT NULL,
        deferred bigint NOT NULL,
        parked bigint NOT NULL,
        running bigint NOT NULL,
        oldest_s double precision,
        CONSTRAINT pk_lane_samples PRIMARY KEY (minute, lane, priority)
    )
    """,
    """
    CREATE TABLE build_progress (
        build_id bigint,
        generation integer NOT NULL,
        remaining integer NOT NULL,
        running integer NOT NULL,
        never_started integer NOT NULL,
        rate_per_s double precision,
        low_s double precision,
        likely_s double precision,
        high_s double precision,
        sampled_at timestamptz DEFAULT now() NOT NULL,
        next_sample_at timestamptz NOT NULL,
        dispatched_at timestamptz,
        CONSTRAINT pk_build_progress PRIMARY KEY (build_id),
        CONSTRAINT fk_build_progress_build_id FOREIGN KEY (build_id)
            REFERENCES builds (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_build_progress_next_sample_at ON build_progress (next_sample_at)",
)

UP = (
    "ALTER TABLE jobs ADD COLUMN release_requested_at timestamptz",
    "ALTER TABLE jobs ADD COLUMN request_id text",
    "ALTER TABLE jobs ADD COLUMN traceparent text",
    "ALTER TABLE jobs ADD COLUMN capped boolean DEFAULT false NOT NULL",
    "ALTER TABLE jobs DROP CONSTRAINT ck_jobs_state, ADD CONSTRAINT ck_jobs_state"
    " CHECK (state IN ('queued', 'deferred', 'parked', 'running'))",
    "CREATE INDEX ix_jobs_parked ON jobs (project_id, priority DESC, fair_tag, id)"
    " WHERE state = 'parked'",
    "CREATE INDEX ix_jobs_capped ON jobs (project_id) WHERE capped AND state <> 'parked'",
    "ALTER TABLE builds ADD COLUMN request_id text",
    "ALTER TABLE builds ADD COLUMN traceparent text",
    "ALTER TABLE builds ADD COLUMN replans integer DEFAULT 0 NOT NULL",
    "ALTER TABLE builds ADD COLUMN replan_reason text",
    "ALTER TABLE consumers ADD COLUMN machine text DEFAULT '' NOT NULL",
    "ALTER TABLE consumers ADD COLUMN process_started bigint DEFAULT 0 NOT NULL",
    "ALTER TABLE consumers ADD COLUMN slots jsonb DEFAULT '{}' NOT NULL",
    # Jobs without a build or a project need no entry there: nobody asks for them so.
    "DROP INDEX ix_jobs_done_build_id",
    "DROP INDEX ix_jobs_done_project_id_finished_at",
    "CREATE INDEX ix_jobs_done_build_id ON jobs_done (build_id) WHERE build_id IS NOT NULL",
    "CREATE INDEX ix_jobs_done_project_id_finished_at ON jobs_done (project_id, finished_at)"
    " WHERE project_id IS NOT NULL",
    *TABLES,
)

DOWN = (
    "DELETE FROM jobs WHERE kind = 'tidy'",  # the version before does not know the kind
    *(
        f"DROP TABLE {table}"
        for table in (
            *("build_progress", "lane_samples", "metric_flushes", "job_metrics", "alarms"),
            *("ticks", "leaders", "running_caps"),
        )
    ),
    "DROP INDEX ix_jobs_done_build_id",
    "DROP INDEX ix_jobs_done_project_id_finished_at",
    "CREATE INDEX ix_jobs_done_build_id ON jobs_done (build_id)",
    "CREATE INDEX ix_jobs_done_project_id_finished_at ON jobs_done (project_id, finished_at)",
    *(
        f"ALTER TABLE consumers DROP COLUMN {name}"
        for name in ("slots", "process_started", "machine")
    ),
    *(
        f"ALTER TABLE builds DROP COLUMN {name}"
        for name in ("replan_reason", "replans", "traceparent", "request_id")
    ),
    "DROP INDEX ix_jobs_parked",
    "DROP INDEX ix_jobs_capped",
    "UPDATE jobs SET state = 'queued' WHERE state = 'parked'",
    "ALTER TABLE jobs DROP CONSTRAINT ck_jobs_state, ADD CONSTRAINT ck_jobs_state"
    " CHECK (state IN ('queued', 'deferred', 'running'))",
    *(
        f"ALTER TABLE jobs DROP COLUMN {name}"
        for name in ("capped", "traceparent", "request_id", "release_requested_at")
    ),
)


def upgrade() -> None:
    """Add what the whole queue needs."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Take it away; parked jobs are queued again, and servers tidy up by themselves."""
    for statement in DOWN:
        op.execute(statement)
