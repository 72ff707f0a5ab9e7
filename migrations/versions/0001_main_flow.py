"""Everything the main flow stands on, from a project to the audit of who did what.

Written out rather than made from `storyshelf.db.tables`, which moves on; a test holds the two
together.
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE audit_events (
        id bigint GENERATED ALWAYS AS IDENTITY,
        at timestamptz DEFAULT now() NOT NULL,
        actor text NOT NULL,
        action text NOT NULL,
        project_id bigint,
        build_id bigint,
        detail jsonb DEFAULT '{}' NOT NULL,
        CONSTRAINT pk_audit_events PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX ix_audit_events_project_id_at ON audit_events (project_id, at)",
    """
    CREATE TABLE blobs (
        key text NOT NULL,
        size_bytes bigint NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_blobs PRIMARY KEY (key),
        CONSTRAINT ck_blobs_key CHECK (key ~ '^[0-9a-f]{64}$'),
        CONSTRAINT ck_blobs_size_bytes CHECK (size_bytes >= 0)
    )
    """,
    """
    CREATE TABLE environments (
        id text NOT NULL,
        facts jsonb NOT NULL,
        first_seen_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_environments PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE job_attempts (
        job_id bigint NOT NULL,
        attempt smallint NOT NULL,
        consumer_id text,
        lease_token uuid,
        outcome text NOT NULL,
        error text,
        started_at timestamptz,
        ended_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_job_attempts PRIMARY KEY (job_id, attempt),
        CONSTRAINT ck_job_attempts_outcome CHECK (
            outcome IN (
                'completed', 'retried', 'failed', 'unhandled', 'dropped', 'lost', 'cancelled',
                'released', 'crashed'
            )
        )
    )
    """,
    """
    CREATE TABLE jobs (
        id bigint GENERATED ALWAYS AS IDENTITY,
        project_id bigint,
        build_id bigint,
        fair_tag bigint NOT NULL,
        run_at timestamptz DEFAULT now() NOT NULL,
        enqueued_at timestamptz DEFAULT now() NOT NULL,
        started_at timestamptz,
        attempt_started_at timestamptz,
        progress_at timestamptz,
        lease_expires_at timestamptz,
        cancel_requested_at timestamptz,
        lease_token uuid,
        last_token uuid,
        generation integer DEFAULT '0' NOT NULL,
        priority smallint DEFAULT '10' NOT NULL,
        attempt smallint DEFAULT '0' NOT NULL,
        charged smallint DEFAULT '0' NOT NULL,
        max_attempts smallint NOT NULL,
        state text DEFAULT 'queued' NOT NULL,
        kind text NOT NULL,
        lane text NOT NULL,
        consumer_id text,
        dedupe_key text,
        last_error text,
        payload jsonb NOT NULL,
        CONSTRAINT pk_jobs PRIMARY KEY (id),
        CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'deferred', 'running')),
        CONSTRAINT ck_jobs_leased_when_running CHECK (
            (state = 'running') = (lease_token IS NOT NULL)
                AND (state = 'running') = (lease_expires_at IS NOT NULL)
                AND (state = 'running') = (consumer_id IS NOT NULL)
        ),
        CONSTRAINT ck_jobs_charged CHECK (charged BETWEEN 0 AND attempt),
        CONSTRAINT ck_jobs_max_attempts CHECK (max_attempts >= 1),
        CONSTRAINT ck_jobs_priority CHECK (priority IN (0, 10, 20)),
        CONSTRAINT ck_jobs_payload CHECK (jsonb_typeof(payload) = 'object')
    ) WITH (
        fillfactor = 85,
        autovacuum_vacuum_scale_factor = 0.01,
        autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0
    )
    """,
    "CREATE INDEX ix_jobs_build_id ON jobs (build_id) WHERE build_id IS NOT NULL",
    "CREATE INDEX ix_jobs_due ON jobs (run_at) WHERE state = 'deferred'",
    """
    CREATE INDEX ix_jobs_ready ON jobs (lane, priority DESC, fair_tag, id) WHERE state = 'queued'
    """,
    "CREATE INDEX ix_jobs_running ON jobs (id) WHERE state = 'running'",
    """
    CREATE UNIQUE INDEX uq_jobs_dedupe_key ON jobs (dedupe_key) WHERE dedupe_key IS NOT NULL
    """,
    """
    CREATE TABLE jobs_done (
        id bigint NOT NULL,
        kind text NOT NULL,
        lane text NOT NULL,
        generation integer NOT NULL,
        project_id bigint,
        build_id bigint,
        priority smallint NOT NULL,
        state text NOT NULL,
        outcome text NOT NULL,
        error text,
        attempt smallint NOT NULL,
        charged smallint NOT NULL,
        max_attempts smallint NOT NULL,
        consumer_id text,
        lease_token uuid,
        last_token uuid,
        dedupe_key text,
        payload jsonb NOT NULL,
        enqueued_at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz DEFAULT now() NOT NULL,
        wait_ms bigint,
        run_ms bigint,
        CONSTRAINT pk_jobs_done PRIMARY KEY (id),
        CONSTRAINT ck_jobs_done_state CHECK (state IN ('done', 'failed', 'cancelled')),
        CONSTRAINT ck_jobs_done_outcome CHECK (
            outcome IN (
                'completed', 'failed', 'cancelled', 'dropped', 'unhandled', 'crashed'
            )
        )
    )
    """,
    "CREATE INDEX ix_jobs_done_build_id ON jobs_done (build_id)",
    "CREATE INDEX ix_jobs_done_finished_at ON jobs_done USING brin (finished_at)",
    """
    CREATE INDEX ix_jobs_done_project_id_finished_at ON jobs_done (project_id, finished_at)
    """,
    """
    CREATE TABLE lane_tags (
        lane text NOT NULL,
        priority smallint NOT NULL,
        project_id bigint NOT NULL,
        last_tag bigint NOT NULL,
        CONSTRAINT pk_lane_tags PRIMARY KEY (lane, priority, project_id)
    )
    """,
    """
    CREATE TABLE projects (
        id bigint GENERATED ALWAYS AS IDENTITY,
        slug text NOT NULL,
        name text NOT NULL,
        default_branch text DEFAULT 'main' NOT NULL,
        options jsonb DEFAULT '{}' NOT NULL,
        last_build_number integer DEFAULT '0' NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_projects PRIMARY KEY (id),
        CONSTRAINT ck_projects_slug CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
        CONSTRAINT ck_projects_last_build_number CHECK (last_build_number >= 0),
        CONSTRAINT uq_projects_slug UNIQUE (slug)
    )
    """,
    """
    CREATE TABLE builds (
        id bigint GENERATED ALWAYS AS IDENTITY,
        project_id bigint NOT NULL,
        number integer NOT NULL,
        idempotency_key text NOT NULL,
        branch text NOT NULL,
        commit text NOT NULL,
        message text,
        author text,
        state text DEFAULT 'uploading' NOT NULL,
        state_reason text,
        generation integer DEFAULT '1' NOT NULL,
        planned_generation integer,
        open_shards integer DEFAULT '0' NOT NULL,
        plan_job_id bigint,
        finalise_job_id bigint,
        ancestor_build_id bigint,
        rule text,
        environment_id text,
        created_at timestamptz DEFAULT now() NOT NULL,
        sealed_at timestamptz,
        planned_at timestamptz,
        ended_at timestamptz,
        CONSTRAINT pk_builds PRIMARY KEY (id),
        CONSTRAINT uq_builds_project_id_number UNIQUE (project_id, number),
        CONSTRAINT uq_builds_project_id_idempotency_key UNIQUE (project_id, idempotency_key),
        CONSTRAINT ck_builds_state CHECK (
            state IN (
                'uploading', 'queued', 'planning', 'capturing', 'passed', 'pending', 'accepted',
                'denied', 'broken', 'failed', 'incomplete', 'cancelled', 'skipped'
            )
        ),
        CONSTRAINT ck_builds_ended_when_over CHECK (
            (ended_at IS NULL) = (state IN (
                'uploading', 'queued', 'planning', 'capturing'
            ))
        ),
        CONSTRAINT ck_builds_open_shards CHECK (open_shards >= 0),
        CONSTRAINT ck_builds_generation CHECK (generation >= 1),
        CONSTRAINT ck_builds_planned_first CHECK (state <> 'capturing' OR planned_at IS NOT NULL),
        CONSTRAINT ck_builds_planned_when
            CHECK ((planned_generation IS NULL) = (planned_at IS NULL)),
        CONSTRAINT fk_builds_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_builds_ancestor_build_id
            FOREIGN KEY(ancestor_build_id) REFERENCES builds (id),
        CONSTRAINT fk_builds_environment_id FOREIGN KEY(environment_id) REFERENCES environments (id)
    )
    """,
    "CREATE INDEX ix_builds_branch ON builds (project_id, branch, number DESC)",
    "CREATE INDEX ix_builds_unended ON builds (created_at) WHERE ended_at IS NULL",
    """
    CREATE TABLE consumers (
        id text NOT NULL,
        host text NOT NULL,
        pid integer NOT NULL,
        version text NOT NULL,
        state text DEFAULT 'running' NOT NULL,
        lanes text[] NOT NULL,
        kinds text[] NOT NULL,
        environment_id text,
        running jsonb DEFAULT '[]' NOT NULL,
        started_at timestamptz DEFAULT now() NOT NULL,
        beat_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_consumers PRIMARY KEY (id),
        CONSTRAINT ck_consumers_state CHECK (state IN ('running', 'quiet', 'stopping')),
        CONSTRAINT fk_consumers_environment_id
            FOREIGN KEY(environment_id) REFERENCES environments (id)
    )
    """,
    """
    CREATE TABLE project_blobs (
        project_id bigint NOT NULL,
        key text NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        CONSTRAINT pk_project_blobs PRIMARY KEY (project_id, key),
        CONSTRAINT fk_project_blobs_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_project_blobs_key FOREIGN KEY(key) REFERENCES blobs (key)
    )
    """,
    "CREATE INDEX ix_project_blobs_key ON project_blobs (key)",
    """
    CREATE TABLE tokens (
        id bigint GENERATED ALWAYS AS IDENTITY,
        project_id bigint NOT NULL,
        name text NOT NULL,
        hint text NOT NULL,
        secret_hash bytea NOT NULL,
        created_at timestamptz DEFAULT now() NOT NULL,
        last_used_at timestamptz,
        expires_at timestamptz,
        revoked_at timestamptz,
        CONSTRAINT pk_tokens PRIMARY KEY (id),
        CONSTRAINT ck_tokens_secret_hash CHECK (octet_length(secret_hash) = 32),
        CONSTRAINT fk_tokens_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT uq_tokens_secret_hash UNIQUE (secret_hash)
    )
    """,
    "CREATE INDEX ix_tokens_project_id ON tokens (project_id)",
    """
    CREATE TABLE bundle_files (
        build_id bigint NOT NULL,
        path text NOT NULL,
        key text NOT NULL,
        size_bytes bigint NOT NULL,
        CONSTRAINT pk_bundle_files PRIMARY KEY (build_id, path),
        CONSTRAINT ck_bundle_files_key CHECK (key ~ '^[0-9a-f]{64}$'),
        CONSTRAINT fk_bundle_files_build_id FOREIGN KEY(build_id) REFERENCES builds (id)
    )
    """,
    "CREATE INDEX ix_bundle_files_key_build_id ON bundle_files (key, build_id)",
    """
    CREATE TABLE shards (
        id bigint GENERATED ALWAYS AS IDENTITY,
        build_id bigint NOT NULL,
        generation integer NOT NULL,
        number integer NOT NULL,
        state text DEFAULT 'open' NOT NULL,
        job_id bigint,
        stories integer NOT NULL,
        rounds_without_result smallint DEFAULT '0' NOT NULL,
        error text,
        opened_at timestamptz DEFAULT now() NOT NULL,
        closed_at timestamptz,
        CONSTRAINT pk_shards PRIMARY KEY (id),
        CONSTRAINT uq_shards_build_id_generation_number UNIQUE (build_id, generation, number),
        CONSTRAINT ck_shards_state CHECK (state IN ('open', 'done', 'failed', 'cancelled')),
        CONSTRAINT ck_shards_closed_when_over CHECK ((closed_at IS NULL) = (state = 'open')),
        CONSTRAINT fk_shards_build_id FOREIGN KEY(build_id) REFERENCES builds (id)
    )
    """,
    "CREATE INDEX ix_shards_job_id ON shards (job_id)",
    """
    CREATE TABLE snapshots (
        id bigint GENERATED ALWAYS AS IDENTITY,
        build_id bigint NOT NULL,
        generation integer NOT NULL,
        story_id text NOT NULL,
        mode text NOT NULL,
        browser text NOT NULL,
        title text NOT NULL,
        name text NOT NULL,
        import_path text NOT NULL,
        options jsonb NOT NULL,
        shard_id bigint,
        crashes smallint DEFAULT '0' NOT NULL,
        verdict text DEFAULT 'planned' NOT NULL,
        reason text NOT NULL,
        baseline_snapshot_id bigint,
        baseline_reason text NOT NULL,
        effective_snapshot_id bigint,
        decision text DEFAULT 'none' NOT NULL,
        decided_by text,
        decided_at timestamptz,
        image_key text,
        width_px integer,
        height_px integer,
        diff jsonb,
        mask_key text,
        frames text[] DEFAULT '{}' NOT NULL,
        error jsonb,
        warnings jsonb DEFAULT '[]' NOT NULL,
        timings_ms jsonb DEFAULT '{}' NOT NULL,
        duration_ms integer,
        environment_id text,
        captured_at timestamptz,
        CONSTRAINT pk_snapshots PRIMARY KEY (id),
        CONSTRAINT uq_snapshots_build_id_generation_story_id_mode_browser
            UNIQUE (build_id, generation, story_id, mode, browser),
        CONSTRAINT ck_snapshots_verdict CHECK (
            verdict IN (
                'planned', 'unchanged', 'changed', 'added', 'removed', 'inherited', 'errored',
                'unstable', 'skipped'
            )
        ),
        CONSTRAINT ck_snapshots_decision CHECK (decision IN ('none', 'accepted', 'denied')),
        CONSTRAINT ck_snapshots_decided_when CHECK ((decision = 'none') = (decided_at IS NULL)),
        CONSTRAINT ck_snapshots_pictured CHECK (
            verdict NOT IN ('changed', 'added', 'unstable') OR image_key IS NOT NULL
        ),
        CONSTRAINT ck_snapshots_explained CHECK (verdict <> 'errored' OR error IS NOT NULL),
        CONSTRAINT ck_snapshots_captured_once CHECK (verdict <> 'planned' OR captured_at IS NULL),
        CONSTRAINT fk_snapshots_build_id FOREIGN KEY(build_id) REFERENCES builds (id),
        CONSTRAINT fk_snapshots_shard_id FOREIGN KEY(shard_id) REFERENCES shards (id),
        CONSTRAINT fk_snapshots_baseline_snapshot_id
            FOREIGN KEY(baseline_snapshot_id) REFERENCES snapshots (id),
        CONSTRAINT fk_snapshots_effective_snapshot_id
            FOREIGN KEY(effective_snapshot_id) REFERENCES snapshots (id),
        CONSTRAINT fk_snapshots_image_key FOREIGN KEY(image_key) REFERENCES blobs (key),
        CONSTRAINT fk_snapshots_mask_key FOREIGN KEY(mask_key) REFERENCES blobs (key),
        CONSTRAINT fk_snapshots_environment_id
            FOREIGN KEY(environment_id) REFERENCES environments (id)
    )
    """,
    "CREATE INDEX ix_snapshots_captured ON snapshots (build_id, captured_at)",
    "CREATE INDEX ix_snapshots_image ON snapshots (image_key)",
    "CREATE INDEX ix_snapshots_shard ON snapshots (shard_id)",
    "CREATE INDEX ix_snapshots_verdict ON snapshots (build_id, generation, verdict, id)",
)
TABLES = (
    "audit_events",
    "blobs",
    "environments",
    "job_attempts",
    "jobs",
    "jobs_done",
    "lane_tags",
    "projects",
    "builds",
    "consumers",
    "project_blobs",
    "tokens",
    "bundle_files",
    "shards",
    "snapshots",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.execute(f'DROP TABLE "{table}"')
