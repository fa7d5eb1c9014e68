import type { IncomingHttpHeaders } from 'node:http';
import type { Role } from '@waybill/shared/contracts/http-api';
import type { JsonFault } from '@waybill/shared/contracts/strict-json';
import type { ProblemCode } from '@waybill/shared/domain/errors';
import { z } from 'zod';
import type { Caller } from './authentication.ts';

type Method = 'get' | 'put' | 'post' | 'delete';

/** What a call answers when all is well, by status; null: without a body. */
type Answers = Readonly<Record<number, z.ZodType | null>>;

type Answer<Of extends Answers> = {
  [Status in keyof Of & number]: Of[Status] extends z.ZodType
    ? { readonly status: Status; readonly body: z.output<Of[Status]> }
    : { readonly status: Status };
}[keyof Of & number];

/**
 * What a handler gives back: an answer, and of a change the versions of its target before and after. `target` names
 * what the change made, where the call could not: it is recorded in the place of the one that the call gave.
 */
type Reply<Of extends Answers> = Answer<Of> & { readonly versions?: Versions; readonly target?: string };

/** Null: there was or is none. */
export interface Versions {
  readonly before: number | null;
  readonly after: number | null;
}

interface Body<Schema extends z.ZodType> {
  /** By this it is read; faults are answered with 422 and their paths. */
  readonly schema: Schema;
  /** Media types that are taken, each with what it holds. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  /** Longest body in bytes, unpacked. */
  readonly maxBytes: number;
  /** A request without a body says `{}`. */
  readonly optional?: true;
  /** The handler judges what the text itself has wrong: see `textFaults`. Else such a body is refused whole. */
  readonly faultsAreTheHandlers?: true;
}

interface Call<Params extends z.ZodType, Query extends z.ZodType, Content extends z.ZodType> {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.output<Content>;
  /** What the text of the body says that cannot be kept, such as a key that is there twice. */
  readonly textFaults: readonly JsonFault[];
  /** The media type of the body, lower case; empty if the call takes none. */
  readonly mediaType: string;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
}

interface Definition<
  Deps,
  Params extends z.ZodObject,
  Query extends z.ZodType,
  Content extends z.ZodType,
  Of extends Answers,
> {
  readonly method: Method;
  /** As OpenAPI writes it: `/v1/subscribers/{id}`. */
  readonly path: string;
  /** Names the call: in the document, and as the action in the audit log. */
  readonly operationId: string;
  readonly summary: string;
  /** Who may call, besides `admin`, who may call everything. */
  readonly roles: readonly Role[];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body<Content>;
  readonly answers: Of;
  /** Problems of its own; those that every call can meet are added. */
  readonly problems?: readonly ProblemCode[];
  /**
   * What a change is recorded as done to. Left out: the path up to its last parameter. `null`: not recorded, because
   * it leaves a record of its own. Reading is never recorded.
   */
  readonly target?: ((call: Call<Params, Query, Content>) => string) | null;
  /**
   * For who accepts `text/event-stream`: begins to send what 200 answers, again and again. `end` is to be called when nothing more will come.
   *
   * @returns stops it, because the caller has gone.
   */
  readonly stream?: (send: (answer: unknown) => void, end: () => void, deps: Deps) => () => void;
  readonly handle: (call: Call<Params, Query, Content>, deps: Deps) => Promise<Reply<NoInfer<Of>>>;
}

/** A call of the API: all that wiring and documents need to know. */
export type Route<Deps> = Definition<Deps, z.ZodObject, z.ZodType, z.ZodType, Answers>;

/** A route as documents need it, whatever its handler takes. */
export type AnyRoute = Route<never>;

const NOTHING = z.strictObject({});
type Nothing = typeof NOTHING;

/** Makes routes whose handlers are typed by what the route declares and take `Deps`. */
export function routesFor<Deps>() {
  return <
    Of extends Answers,
    Params extends z.ZodObject = Nothing,
    Query extends z.ZodType = Nothing,
    Content extends z.ZodType = z.ZodUndefined,
  >(
    definition: Definition<Deps, Params, Query, Content, Of>,
  ): Route<Deps> =>
    // Only the handler knows the types that its own schemas give; the wiring hands it what they gave.
    definition as unknown as Route<Deps>;
}

/** A body of plain JSON. */
export function json<Schema extends z.ZodType>(schema: Schema, maxBytes: number): Body<Schema> {
  return { schema, content: { 'application/json': schema }, maxBytes };
}
