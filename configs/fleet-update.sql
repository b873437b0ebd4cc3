-- Brings tables of fleet.sql from version 3 to 4. As their owner:  psql -v ON_ERROR_STOP=1 -d fleet -f fleet-update.sql
BEGIN;
SET LOCAL search_path = fstune;

DO $$
BEGIN
    IF (SELECT number FROM versions) <> 3 THEN
        RAISE EXCEPTION 'these tables are not of version 3; nothing was changed';
    END IF;
END $$;

ALTER TABLE runs ADD COLUMN summarised smallint NOT NULL DEFAULT 0;
CREATE INDEX runs_whole ON runs(started_s) WHERE summarised = 0;
DROP POLICY add_own ON runs;
CREATE POLICY add_own ON runs FOR INSERT TO fstune_host WITH CHECK (is_own_host(host_id) AND summarised = 0);
ALTER TABLE replays ADD COLUMN n_replays integer NOT NULL DEFAULT 1 CHECK(n_replays BETWEEN 1 AND 1000000),
    ADD COLUMN std_bps double precision CHECK(std_bps >= 0),
    ALTER COLUMN arrived SET DEFAULT coalesce(nullif(current_setting('fstune.arrived', true), '')::date, current_date);
CREATE TABLE replays_old PARTITION OF replays FOR VALUES FROM (MINVALUE) TO ('2000-01-01');

UPDATE versions SET number = 4;
COMMIT;
