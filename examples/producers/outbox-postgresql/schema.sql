CREATE TABLE shipments (
  id text PRIMARY KEY,
  version bigint NOT NULL,
  status text NOT NULL
);

-- What has to be told. A row goes when Waybill has taken it; one that Waybill refuses stays, with the reason.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event jsonb NOT NULL,
  refused jsonb
);
CREATE INDEX outbox_open ON outbox (id) WHERE refused IS NULL;

-- Wakes the relay when a transaction commits. Only a hint: the relay also looks by itself now and then.
CREATE FUNCTION outbox_wakes_relay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY outbox;
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_wakes_relay AFTER INSERT ON outbox
  FOR EACH STATEMENT EXECUTE FUNCTION outbox_wakes_relay();
