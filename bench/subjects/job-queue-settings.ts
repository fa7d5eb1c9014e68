/** The plain job queue as its two processes are told. */
export const QUEUE = 'deliveries';

/** Connections of the worker to PostgreSQL. */
export const POSTGRES_CONNECTIONS = 20;

export interface DeliveryJob {
  readonly eventId: string;
  readonly subscriber: number;
  readonly url: string;
  readonly body: string;
}

export const CREATE_ATTEMPTS = `
  CREATE TABLE attempts (
    id bigserial PRIMARY KEY,
    event_id text NOT NULL,
    subscriber integer NOT NULL,
    attempt integer NOT NULL,
    status_code integer,
    error text,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL
  );
  CREATE INDEX attempts_event ON attempts (event_id, subscriber);`;

export const INSERT_ATTEMPT = `
  INSERT INTO attempts (event_id, subscriber, attempt, status_code, error, started_at, ended_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;
