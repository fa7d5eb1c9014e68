// Made from the routes of the scheduler by `pnpm reference`; `pnpm check` sees whether it is fresh.
export interface paths {
    "/v1/status-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes one event or up to 500; 202 once Kafka has what was taken on all in-sync replicas
         * @description Roles: ingest, admin.
         */
        post: operations["postStatusEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Subscribers by id
         * @description Roles: operator, admin.
         */
        get: operations["listSubscribers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One subscriber, with what dispatchers learnt about it
         * @description Roles: operator, admin.
         */
        get: operations["getSubscriber"];
        /**
         * Makes a subscriber or replaces it whole; what is left out takes its default
         * @description Roles: admin. Recorded in the audit log.
         */
        put: operations["putSubscriber"];
        post?: never;
        /**
         * Removes a subscriber and cancels what it is still owed
         * @description Roles: admin. Recorded in the audit log.
         */
        delete: operations["deleteSubscriber"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switches deliveries on; ends a quarantine and a throttle and closes the breaker
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["enableSubscriber"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Holds what is owed and makes nothing new
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["disableSubscriber"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Puts a new signing secret in the place of the present one, which stays valid beside it for a while
         * @description Roles: admin. Recorded in the audit log.
         */
        post: operations["rotateSubscriberSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends one test event on the subscriber’s terms and says what came of it
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["testSubscriber"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Deliveries, newest first
         * @description Roles: operator, admin.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes all delivered, dead and cancelled deliveries that the filter finds owed again, under the same keys
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["replayDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a delivered, dead or cancelled delivery owed again, under the same key
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The whole record of one delivery
         * @description Roles: operator, admin.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Attempts and transitions that its record no longer holds, oldest first
         * @description Roles: operator, admin.
         */
        get: operations["getDeliveryHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shipments/{shipmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Event versions × subscribers of one shipment, oldest first: what became of each, and why somebody got nothing
         * @description Roles: operator, admin.
         */
        get: operations["getShipment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dead deliveries and messages that could not be taken, newest first
         * @description Roles: operator, admin.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/reprocess": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a message that was put aside to its topic again, once
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["reprocessDeadLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, newest first: rows selected, limit, time, why each stopped
         * @description Roles: operator, admin.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{job}/{slot}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One run; its id is job and slot, so it is two segments of the path
         * @description Roles: operator, admin.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ticks/{job}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fires a slot, for a cron from outside: the same slot, fired however often, is the same run
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        post: operations["fireTick"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest version of each policy, by id
         * @description Roles: operator, admin.
         */
        get: operations["listRetentionPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest version of a policy
         * @description Roles: operator, admin.
         */
        get: operations["getRetentionPolicy"];
        /**
         * Adds a version of a policy; it may enforce what a run has observed
         * @description Roles: admin. Recorded in the audit log.
         */
        put: operations["putRetentionPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/policies/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every version of a policy, newest first
         * @description Roles: operator, admin.
         */
        get: operations["listRetentionPolicyVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Legal holds that stand, by shipment
         * @description Roles: operator, admin.
         */
        get: operations["listRetentionHolds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/holds/{shipmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The legal hold that stands on a shipment
         * @description Roles: operator, admin.
         */
        get: operations["getRetentionHold"];
        /**
         * Holds a shipment: once this has answered, nothing of it is deleted
         * @description Roles: admin. Recorded in the audit log.
         */
        put: operations["putRetentionHold"];
        post?: never;
        /**
         * Releases a legal hold
         * @description Roles: admin. Recorded in the audit log.
         */
        delete: operations["deleteRetentionHold"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retention runs, newest first
         * @description Roles: operator, admin.
         */
        get: operations["listRetentionRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One retention run, with what it has done so far
         * @description Roles: operator, admin.
         */
        get: operations["getRetentionRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/sweeping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether sweeping is paused, and its rate
         * @description Roles: operator, admin.
         */
        get: operations["getSweeping"];
        /**
         * Pauses sweeping or limits its rate, for all sweepers, from the next page on
         * @description Roles: operator, admin. Recorded in the audit log.
         */
        put: operations["putSweeping"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Entries of deleted records: by record, shipment or run
         * @description Roles: operator, admin.
         */
        get: operations["listLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/runs/{runId}/verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recomputes the chains of a run and compares its counts; names what does not hold
         * @description Roles: operator, admin.
         */
        get: operations["verifyRetentionRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/proofs/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A delivery is gone, when and under which rule; or it is here, and why
         * @description Roles: operator, admin.
         */
        get: operations["proveDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Erasures, newest first
         * @description Roles: operator, admin.
         */
        get: operations["listErasures"];
        put?: never;
        /**
         * Deletes everything of a shipment, whatever its age; waits for what is owed, or cancels it
         * @description Roles: admin. Recorded in the audit log.
         */
        post: operations["eraseShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retention/erasures/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far an erasure is, and what it waits for
         * @description Roles: operator, admin.
         */
        get: operations["getErasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what, newest first
         * @description Roles: admin.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribers/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How a subscriber fared in its newest 100 deliveries, and what it is owed
         * @description Roles: operator, admin.
         */
        get: operations["getSubscriberHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letters/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest 10,000 dead deliveries by subscriber and reason, largest group first
         * @description Roles: operator, admin.
         */
        get: operations["listDeadLetterGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How things are: rates, backlog, lag; as text/event-stream again every two seconds
         * @description Roles: operator, admin.
         */
        get: operations["watchLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/caller": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whose key the call is made with: its name and role
         * @description Roles: ingest, operator, admin.
         */
        get: operations["getCaller"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It does */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            status: "ok";
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether everything it needs answers */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Ready */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {string} */
                            status: "ready" | "not ready";
                            /** @description `ok` or what is wrong, by name */
                            checks: {
                                [key: string]: string;
                            };
                        };
                    };
                };
                /** @description What is not there, by name */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {string} */
                            status: "ready" | "not ready";
                            /** @description `ok` or what is wrong, by name */
                            checks: {
                                [key: string]: string;
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prometheus metrics */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Text exposition format */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OpenAPI 3.1 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Problem: {
            /** @description `urn:waybill:problem:` and the code */
            type: string;
            title: string;
            status: number;
            /**
             * @description The stable part
             * @enum {string}
             */
            code: "invalid_json" | "malformed_request" | "invalid_query" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "not_replayable" | "not_reprocessable" | "not_observed" | "held" | "not_rotatable" | "changed_meanwhile" | "already_done" | "too_large" | "unsupported_media_type" | "invalid" | "rate_limited" | "headers_too_large" | "internal" | "secret_unavailable" | "unavailable";
            detail?: string;
            /** @description Everything that is wrong, not the first thing */
            readonly faults?: {
                /** @description Where it is: a JSON path such as `$[3].attributes.region`, or `query.limit` */
                path: string;
                message: string;
            }[];
        };
        StatusEvent: {
            /** @description Names the shipment; the Kafka key */
            shipmentId: string;
            /** @description Grows per shipment; (shipmentId, eventVersion) identifies the event */
            eventVersion: number;
            /** @description Such as in_transit, delivered, exception */
            status: string;
            /**
             * Format: date-time
             * @description RFC 3339 instant at which the status was reached
             */
            occurredAt: string;
            /** @description Flat string map that subscribers filter on */
            attributes?: {
                [key: string]: string;
            };
            /** @description Opaque JSON for the subscriber */
            data?: unknown;
            /** @description The producer's own id for the event: carried, not interpreted */
            eventId?: string;
        };
        CloudEvent: {
            /** @constant */
            specversion: "1.0";
            id: string;
            source: string;
            type: string;
            subject?: string;
            time?: string;
            data: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        IngestResult: {
            shipmentId: string | null;
            eventVersion: number | null;
            /** @enum {string} */
            result: "accepted" | "duplicate" | "conflict" | "invalid";
            problem?: components["schemas"]["Problem"];
        };
        SubscriberInput: {
            url: string;
            filter?: {
                statuses?: string[];
                attributes?: {
                    [key: string]: string[];
                };
            };
            delivery?: {
                /** @default 15000 */
                timeoutMs?: number;
                /**
                 * @description For TCP and TLS; never longer than timeoutMs
                 * @default 5000
                 */
                connectTimeoutMs?: number;
                /**
                 * @description How much of an event it gets; a change counts for events from then on
                 * @default full
                 * @enum {string}
                 */
                payload?: "full" | "id-only" | "empty";
                /** @description Sent with every request; readable through the API, so not for secrets */
                headers?: {
                    [key: string]: string;
                };
                /**
                 * @description What an attempt keeps of the response: nothing, its SHA-256, or that and the first 2 KiB
                 * @default off
                 * @enum {string}
                 */
                keepResponse?: "off" | "hash" | "text";
                /** @default 12 */
                maxAttempts?: number;
                /** @description Left out: 0, 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 5 h, 10 h, … */
                backoff?: {
                    /** @description Delay before the second attempt; doubles after each */
                    initialMs: number;
                    /**
                     * @description The delay grows no further; never less than initialMs
                     * @default 36000000
                     */
                    maxMs?: number;
                    /**
                     * @description Share of the delay that chance may add, never take away
                     * @default 0.2
                     */
                    jitter?: number;
                } | {
                    /** @description Before each retry; the last one repeats */
                    delaysMs: number[];
                    /**
                     * @description Share of the delay that chance may add, never take away
                     * @default 0.2
                     */
                    jitter?: number;
                };
                /**
                 * @description Give up after this
                 * @default 259200000
                 */
                maxElapsedMs?: number;
                /**
                 * @description Most requests under way at once, over all dispatchers
                 * @default 32
                 */
                concurrency?: number;
                /** @description Most requests begun in a second */
                ratePerSecond?: number;
                /**
                 * @description Of the versions of one shipment
                 * @default none
                 * @enum {string}
                 */
                ordering?: "none" | "latest" | "strict";
                /**
                 * @description Whether a dead version keeps later ones back (strict)
                 * @default pass
                 * @enum {string}
                 */
                onDead?: "block" | "pass";
                /**
                 * @description Number its deliveries without a gap: Waybill-Sequence
                 * @default false
                 */
                sequence?: boolean;
                /**
                 * @description What of the trace context it gets besides traceparent: may hold more than ids
                 * @default []
                 */
                propagate?: ("tracestate" | "baggage")[];
                /**
                 * @description What 409 means after an attempt whose outcome is unknown
                 * @default retry
                 * @enum {string}
                 */
                conflictMeans?: "retry" | "delivered";
            };
            /** @default true */
            enabled?: boolean;
            /**
             * @default {
             *       "type": "none"
             *     }
             */
            auth?: {
                /** @constant */
                type: "none";
            } | {
                /** @constant */
                type: "basic";
                username: string;
                password: string;
            } | {
                /** @constant */
                type: "bearer";
                token: string;
            } | {
                /** @constant */
                type: "api-key";
                header: string;
                value: string;
            } | {
                /** @constant */
                type: "signature";
                secret?: string;
            } | {
                /** @constant */
                type: "oauth2";
                tokenUrl: string;
                clientId: string;
                clientSecret?: string;
                privateKey?: string;
                /** @description `kid` of the assertion that privateKey signs */
                keyId?: string;
                scope?: string;
                audience?: string;
                /**
                 * @description Left out: by what is given, a secret by basic
                 * @enum {string}
                 */
                clientAuth?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "basic" | "post";
            } | {
                /** @constant */
                type: "mtls";
                /** @description The client certificate, then what leads to its authority */
                certificate: string;
                /** @description Its private key, PEM, unencrypted */
                key: string;
                /** @description Trusted for this subscriber instead of the public authorities */
                ca?: string;
            } | {
                /** @constant */
                type: "all";
                of: ({
                    /** @constant */
                    type: "basic";
                    username: string;
                    password: string;
                } | {
                    /** @constant */
                    type: "bearer";
                    token: string;
                } | {
                    /** @constant */
                    type: "api-key";
                    header: string;
                    value: string;
                } | {
                    /** @constant */
                    type: "signature";
                    secret?: string;
                } | {
                    /** @constant */
                    type: "oauth2";
                    tokenUrl: string;
                    clientId: string;
                    clientSecret?: string;
                    privateKey?: string;
                    /** @description `kid` of the assertion that privateKey signs */
                    keyId?: string;
                    scope?: string;
                    audience?: string;
                    /**
                     * @description Left out: by what is given, a secret by basic
                     * @enum {string}
                     */
                    clientAuth?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "basic" | "post";
                } | {
                    /** @constant */
                    type: "mtls";
                    /** @description The client certificate, then what leads to its authority */
                    certificate: string;
                    /** @description Its private key, PEM, unencrypted */
                    key: string;
                    /** @description Trusted for this subscriber instead of the public authorities */
                    ca?: string;
                })[];
            };
        };
        Subscriber: {
            id: string;
            url: string;
            filter: {
                statuses?: string[];
                attributes?: {
                    [key: string]: string[];
                };
            };
            delivery: {
                timeoutMs: number;
                connectTimeoutMs: number;
                /** @enum {string} */
                payload: "full" | "id-only" | "empty";
                headers: {
                    [key: string]: string;
                };
                /** @enum {string} */
                keepResponse: "off" | "hash" | "text";
                maxAttempts: number;
                backoff?: {
                    initialMs: number;
                    maxMs: number;
                    jitter: number;
                } | {
                    delaysMs: number[];
                    jitter: number;
                };
                maxElapsedMs: number;
                concurrency: number;
                ratePerSecond?: number;
                /** @enum {string} */
                ordering: "none" | "latest" | "strict";
                /** @enum {string} */
                onDead: "block" | "pass";
                sequence: boolean;
                /** @enum {string} */
                conflictMeans: "retry" | "delivered";
                propagate?: ("tracestate" | "baggage")[];
            };
            /** @description As it was put, each secret replaced by its fingerprint */
            auth: {
                /** @enum {string} */
                type: "none" | "basic" | "bearer" | "api-key" | "signature" | "oauth2" | "mtls" | "all";
            } & {
                [key: string]: unknown;
            };
            enabled: boolean;
            /** @description Grows with every change */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Name of the API key that made the last change */
            updatedBy: string;
            quarantine: {
                /** Format: date-time */
                since: string;
                reason: string;
            } | null;
            throttledUntil: string | null;
            breaker: {
                /** Format: date-time */
                since: string;
                /** Format: date-time */
                openUntil: string;
                trips: number;
            } | null;
        };
        TestResult: {
            /** @enum {string} */
            outcome: "accepted" | "rejected" | "unknown" | "not_sent";
            reason: string | null;
            /** @description What it means and what to do */
            explanation: string;
            detail: string | null;
            statusCode: number | null;
            response: {
                /** @description Of the body, that were read */
                bytes: number;
                /** @description Of those, hexadecimal */
                sha256: string;
                /** @description The first 2 KiB */
                text?: string;
            } | null;
            idempotencyKey: string;
            /** Format: date-time */
            sentAt: string;
            durationMs: number;
            remoteAddress: string | null;
            subscriberVersion: number;
            readonly keyIds: string[];
        };
        Delivery: {
            id: string;
            shipmentId: string;
            subscriberId: string;
            eventVersion: number;
            status: string;
            /** @enum {string} */
            state: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
            reason: string | null;
            /** @description Somebody must look at the row by then; null once closed */
            dueAt: string | null;
            /** @description Why it is not being sent; null: it is closed or under way, or nothing stands against it */
            waitsFor: {
                /** @enum {string} */
                because: "subscriber_removed" | "subscriber_disabled" | "subscriber_quarantined" | "earlier_version" | "newer_version" | "subscriber_throttled" | "breaker_open" | "breaker_probe" | "next_attempt" | "concurrency" | "rate";
                /** @description When it ends by itself; null: not at a time that is known */
                until: string | null;
            } | null;
            idempotencyKey: string;
            traceId: string | null;
            traceUrl: string | null;
            runId: string;
            previousVersion: number | null;
            sequence: number | null;
            /** Format: date-time */
            createdAt: string;
            closedAt: string | null;
            /** @description Attempts in all; `attempts` holds the last of them */
            attemptCount: number;
            attempts: {
                /** @description Counts every claim, replays included */
                number: number;
                /** @description Null while the attempt is under way */
                outcome: ("accepted" | "rejected" | "unknown" | "not_sent") | null;
                reason: string | null;
                /** @description What went wrong, for people */
                detail: string | null;
                statusCode: number | null;
                leaseId: string;
                worker: string;
                /** Format: date-time */
                claimedAt: string;
                /** Format: date-time */
                leaseUntil: string;
                renewals: number;
                leaseEnd: ("settled" | "expired") | null;
                /** @description When the request began to be written; null if it certainly did not leave */
                leftAt: string | null;
                endedAt: string | null;
                /** @description The version of the subscriber that was used */
                subscriberVersion: number;
                /** @description The secrets it was made with, by type and fingerprint */
                readonly keyIds: string[];
                /** @description What was connected to */
                address?: string;
                /** @description What `delivery.keepResponse` keeps */
                response?: {
                    /** @description Of the body, that were read */
                    bytes: number;
                    /** @description Of those, hexadecimal */
                    sha256: string;
                    /** @description The first 2 KiB */
                    text?: string;
                };
                traceId: string | null;
                spanId: string | null;
                /** @description What a worker reported after it had lost the lease; it moved no state */
                late?: {
                    /** @enum {string} */
                    outcome: "accepted" | "rejected" | "unknown" | "not_sent";
                    reason: string | null;
                    statusCode: number | null;
                    leftAt: string | null;
                    /** Format: date-time */
                    reportedAt: string;
                };
            }[];
            transitions: {
                /** Format: date-time */
                at: string;
                from: ("pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled") | null;
                /** @enum {string} */
                to: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
                /** @description `run:<id>`, `lease:<id>`, `claim:<id>`, `ordering` or `operator:<key name>` */
                cause: string;
                reason: string | null;
            }[];
        };
        Shipment: {
            shipmentId: string;
            /** @description Gives the next page; null on the last */
            nextCursor: string | null;
            versions: {
                eventVersion: number;
                status: string;
                occurredAt: string;
                /** Format: date-time */
                receivedAt: string;
                fannedOutAt: string | null;
                /** @description The first 500 by subscriber id */
                deliveries: {
                    id: string;
                    subscriberId: string;
                    /** @enum {string} */
                    state: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
                    reason: string | null;
                    dueAt: string | null;
                    /** @description Why it is not being sent; null: it is closed or under way, or nothing stands against it */
                    waitsFor: {
                        /** @enum {string} */
                        because: "subscriber_removed" | "subscriber_disabled" | "subscriber_quarantined" | "earlier_version" | "newer_version" | "subscriber_throttled" | "breaker_open" | "breaker_probe" | "next_attempt" | "concurrency" | "rate";
                        /** @description When it ends by itself; null: not at a time that is known */
                        until: string | null;
                    } | null;
                    attempts: number;
                    /** @description Of the last attempt */
                    outcome: ("accepted" | "rejected" | "unknown" | "not_sent") | null;
                }[];
                /** @description How many are in each state, in all */
                deliveryCounts: {
                    [key: string]: number;
                };
                /** @description The first 500 by subscriber id */
                notSent: {
                    subscriberId: string;
                    /** @enum {string} */
                    reason: "filtered" | "disabled";
                }[];
                /** @description How many got none for each reason, in all */
                notSentCounts: {
                    [key: string]: number;
                };
                /** @description Why a stored event cannot be fanned out */
                refused: {
                    /** Format: date-time */
                    at: string;
                    reason: string;
                    detail: string;
                } | null;
            }[];
        };
        DeadLetter: {
            /** @constant */
            kind: "message";
            id: string;
            /** Format: date-time */
            at: string;
            /** @description Null for what came over HTTP */
            topic: string | null;
            partition: number | null;
            offset: string | null;
            key: string | null;
            value: string | null;
            headers: {
                name: string;
                /** @description Base64 */
                value: string;
            }[];
            reason: string;
            detail: string;
            reprocess: {
                by: string;
                /** Format: date-time */
                begunAt: string;
                /** Format: date-time */
                finishedAt?: string;
            } | null;
        } | {
            /** @constant */
            kind: "delivery";
            id: string;
            /** Format: date-time */
            at: string;
            shipmentId: string;
            subscriberId: string;
            eventVersion: number;
            status: string;
            reason: string | null;
            attemptCount: number;
        };
        Run: {
            /** @description `<job>/<slot>` */
            runId: string;
            /** @enum {string} */
            job: "dispatch" | "retention";
            /** Format: date-time */
            slot: string;
            worker: string;
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            finishedAt?: string;
            /** @description Deliveries the run enqueued */
            selected?: number;
            /** @description Events it published again because fan-out had not happened */
            republished?: number;
            /** @description Of a retention tick: its runs */
            runIds?: string[];
            /** @description Most deliveries it would have taken */
            limit: number;
            msPerRow?: number;
            /** @enum {string} */
            stoppedBecause?: "done" | "limit";
        };
        AuditEntry: {
            id: string;
            /**
             * Format: date-time
             * @description When the change was about to be made
             */
            at: string;
            actor: {
                /** @description Name of the API key */
                key: string;
                /** @enum {string} */
                role: "ingest" | "operator" | "admin";
            };
            /** @description The operationId of the call */
            action: string;
            /** @description What it was done to, such as `subscribers/clinic` */
            target: string;
            /** @description Of the path and the query; bodies are never kept */
            parameters: {
                [key: string]: unknown;
            };
            /** @description Null: the process ended before it could say; the change may have happened or not */
            outcome: ("done" | "refused" | "failed") | null;
            /** @description HTTP status of the answer */
            status: number | null;
            /** @description Code of the problem, if it was answered with one */
            code: string | null;
            /** @description Version of the target before; null where it has none */
            before: number | null;
            /** @description Version of the target after */
            after: number | null;
            endedAt: string | null;
        };
        RetentionPolicyInput: {
            /**
             * @default deliveries
             * @enum {string}
             */
            kind?: "deliveries" | "events" | "runs" | "dead-letters";
            states?: ("delivered" | "dead" | "superseded" | "cancelled")[];
            /** @description ISO 8601 duration, from the terminal time on */
            maxAge: string;
            /**
             * @default observe
             * @enum {string}
             */
            mode?: "observe" | "enforce";
            /**
             * @description Rows per transaction
             * @default 200
             */
            pageSize?: number;
        };
        RetentionPolicy: {
            id: string;
            version: number;
            /** @enum {string} */
            kind: "deliveries" | "events" | "runs" | "dead-letters";
            readonly states: ("delivered" | "dead" | "superseded" | "cancelled")[];
            maxAge: string;
            /** @enum {string} */
            mode: "observe" | "enforce";
            pageSize: number;
            /** Format: date-time */
            createdAt: string;
            /** @description Name of the API key */
            createdBy: string;
            /** @description What a run of the same rule counted last */
            observed: {
                runId: string;
                candidates: number;
                /** Format: date-time */
                at: string;
            } | null;
        };
        RetentionHold: {
            shipmentId: string;
            reason: string;
            /** Format: date-time */
            setAt: string;
            /** @description Name of the API key */
            setBy: string;
        };
        RetentionRun: {
            runId: string;
            /** @constant */
            job: "retention";
            /** Format: date-time */
            slot: string;
            policyId: string;
            policyVersion: number;
            /** @description Null: an erasure, of all kinds */
            kind: ("deliveries" | "events" | "runs" | "dead-letters") | null;
            readonly states: ("delivered" | "dead" | "superseded" | "cancelled")[];
            maxAge: string | null;
            /** @enum {string} */
            mode: "observe" | "enforce";
            pageSize: number;
            /** Format: date-time */
            cutoff: string;
            erasureId?: string;
            worker: string;
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            dispatchedAt?: string;
            finishedAt: string | null;
            /** @description Counted before anything was deleted */
            candidates: number | null;
            oldestAt: string | null;
            shards: number;
            deleted: number;
            pages: number;
            /** @description Records that were passed over */
            conflicts: number;
            msPerRow: number | null;
            stoppedBecause: ("done" | "observed" | "budget" | "paused" | "expired" | "clock" | "refused" | "abandoned") | null;
            chains?: {
                shard: number;
                count: number;
                head: string;
                /** Format: date-time */
                at: string;
            }[];
        };
        Sweeping: {
            paused: boolean;
            deletesPerSecond: number | null;
            updatedAt: string | null;
            updatedBy: string | null;
        };
        LedgerEntry: {
            operationKey: string;
            /** @enum {string} */
            kind: "deliveries" | "events" | "runs" | "dead-letters";
            recordHash: string;
            shipmentHash: string | null;
            /** @enum {string} */
            reason: "retention" | "erasure";
            policyId: string;
            policyVersion: number;
            /** Format: date-time */
            cutoff: string;
            /** Format: date-time */
            terminalAt: string;
            /** Format: date-time */
            deletedAt: string;
            /** @description SHA-256 of the deleted document */
            digest: string;
            runId: string;
            shard: number;
            page: number;
            seq: number;
            /** @description Hash of the entry before */
            previous: string;
            hash: string;
        };
        RunVerification: {
            runId: string;
            finished: boolean;
            verified: boolean;
            deleted: number;
            entries: number;
            faults: {
                shard: number;
                seq: number;
                operationKey: string | null;
                /** @enum {string} */
                fault: "missing" | "altered" | "closing";
                message: string;
            }[];
        };
        DeletionProof: {
            deliveryId: string;
            /** @constant */
            state: "gone";
            readonly entries: components["schemas"]["LedgerEntry"][];
            /** @description Of each entry that does not stand in its chain: why */
            readonly faults: string[];
        } | {
            deliveryId: string;
            /**
             * @description It is not there, and no entry for it stands in its chain
             * @constant
             */
            state: "unproven";
            readonly entries: components["schemas"]["LedgerEntry"][];
            /** @description Of each entry that does not stand in its chain: why */
            readonly faults: string[];
        } | {
            deliveryId: string;
            /** @constant */
            state: "present";
            delivery: {
                state: string;
                closedAt: string | null;
            };
            readonly because: string[];
            readonly entries: components["schemas"]["LedgerEntry"][];
            /** @description Of each entry that does not stand in its chain: why */
            readonly faults: string[];
        };
        Erasure: {
            erasureId: string;
            /** @enum {string} */
            state: "open" | "done";
            /** @description Null once it is done */
            shipmentId: string | null;
            shipmentHash: string;
            reason: string;
            /** @enum {string} */
            openDeliveries: "wait" | "cancel";
            /** Format: date-time */
            requestedAt: string;
            /** @description Name of the API key */
            requestedBy: string;
            finishedAt: string | null;
            waitsFor: ("hold" | "deliveries" | "sweep") | null;
            /** @description Its newest run; null if none was made yet */
            runId: string | null;
        };
    };
    responses: {
        /**
         * @description `malformed_request`: The request is not HTTP
         *
         *     `invalid_query`: The query has faults
         *
         *     `invalid_json`: The body is not JSON
         */
        "malformed_request.invalid_query.invalid_json": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "malformed_request" | "invalid_query" | "invalid_json";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `request_timeout`: The request took too long to arrive */
        request_timeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "request_timeout";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `headers_too_large`: The header is too large */
        headers_too_large: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "headers_too_large";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `unauthenticated`: An API key is needed */
        unauthenticated: {
            headers: {
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unauthenticated";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: This key calls too often; try again later */
        rate_limited: {
            headers: {
                /** @description Seconds until trying again may help */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "rate_limited";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: This key may not do that */
        forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "forbidden";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal`: Something went wrong on our side */
        internal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "internal";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: A service that is needed does not answer; try again */
        unavailable: {
            headers: {
                /** @description Seconds until trying again may help */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: This content type is not understood */
        unsupported_media_type: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unsupported_media_type";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `too_large`: The content is too large */
        too_large: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "too_large";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `invalid`: The content has faults */
        invalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another content is stored under the same shipment and version */
        conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "conflict";
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description `malformed_request`: The request is not HTTP
         *
         *     `invalid_query`: The query has faults
         */
        "malformed_request.invalid_query": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "malformed_request" | "invalid_query";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: There is no such thing */
        not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_found";
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description `unavailable`: A service that is needed does not answer; try again
         *
         *     `secret_unavailable`: A stored secret cannot be opened
         */
        "unavailable.secret_unavailable": {
            headers: {
                /** @description Seconds until trying again may help */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unavailable" | "secret_unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `changed_meanwhile`: Somebody else changed it at the same time; try again */
        changed_meanwhile: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "changed_meanwhile";
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description `not_rotatable`: Only a signing secret can be rotated
         *
         *     `changed_meanwhile`: Somebody else changed it at the same time; try again
         */
        "not_rotatable.changed_meanwhile": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_rotatable" | "changed_meanwhile";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `not_replayable`: This delivery cannot be replayed; the detail says why */
        not_replayable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_replayable";
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description `not_reprocessable`: Only what came from a topic can be sent again
         *
         *     `already_done`: That was done already
         */
        "not_reprocessable.already_done": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_reprocessable" | "already_done";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `not_observed`: A policy may enforce only what one of its runs has observed */
        not_observed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_observed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `held`: A legal hold keeps the records of this shipment */
        held: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "held";
                } & components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    postStatusEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusEvent"] | components["schemas"]["StatusEvent"][];
                "application/cloudevents+json": components["schemas"]["CloudEvent"];
                "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
            };
        };
        responses: {
            /** @description Accepted: it is written down and will be done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        results: components["schemas"]["IngestResult"][];
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["conflict"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listSubscribers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Subscriber"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscriber"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    putSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriberInput"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        url: string;
                        filter: {
                            statuses?: string[];
                            attributes?: {
                                [key: string]: string[];
                            };
                        };
                        delivery: {
                            timeoutMs: number;
                            connectTimeoutMs: number;
                            /** @enum {string} */
                            payload: "full" | "id-only" | "empty";
                            headers: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            keepResponse: "off" | "hash" | "text";
                            maxAttempts: number;
                            backoff?: {
                                initialMs: number;
                                maxMs: number;
                                jitter: number;
                            } | {
                                delaysMs: number[];
                                jitter: number;
                            };
                            maxElapsedMs: number;
                            concurrency: number;
                            ratePerSecond?: number;
                            /** @enum {string} */
                            ordering: "none" | "latest" | "strict";
                            /** @enum {string} */
                            onDead: "block" | "pass";
                            sequence: boolean;
                            /** @enum {string} */
                            conflictMeans: "retry" | "delivered";
                            propagate?: ("tracestate" | "baggage")[];
                        };
                        /** @description As it was put, each secret replaced by its fingerprint */
                        auth: {
                            /** @enum {string} */
                            type: "none" | "basic" | "bearer" | "api-key" | "signature" | "oauth2" | "mtls" | "all";
                        } & {
                            [key: string]: unknown;
                        };
                        enabled: boolean;
                        /** @description Grows with every change */
                        version: number;
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        updatedAt: string;
                        /** @description Name of the API key that made the last change */
                        updatedBy: string;
                        quarantine: {
                            /** Format: date-time */
                            since: string;
                            reason: string;
                        } | null;
                        throttledUntil: string | null;
                        breaker: {
                            /** Format: date-time */
                            since: string;
                            /** Format: date-time */
                            openUntil: string;
                            trips: number;
                        } | null;
                        /** @description The signing secret that was made because none was given: shown this once */
                        secret?: string;
                    };
                };
            };
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        url: string;
                        filter: {
                            statuses?: string[];
                            attributes?: {
                                [key: string]: string[];
                            };
                        };
                        delivery: {
                            timeoutMs: number;
                            connectTimeoutMs: number;
                            /** @enum {string} */
                            payload: "full" | "id-only" | "empty";
                            headers: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            keepResponse: "off" | "hash" | "text";
                            maxAttempts: number;
                            backoff?: {
                                initialMs: number;
                                maxMs: number;
                                jitter: number;
                            } | {
                                delaysMs: number[];
                                jitter: number;
                            };
                            maxElapsedMs: number;
                            concurrency: number;
                            ratePerSecond?: number;
                            /** @enum {string} */
                            ordering: "none" | "latest" | "strict";
                            /** @enum {string} */
                            onDead: "block" | "pass";
                            sequence: boolean;
                            /** @enum {string} */
                            conflictMeans: "retry" | "delivered";
                            propagate?: ("tracestate" | "baggage")[];
                        };
                        /** @description As it was put, each secret replaced by its fingerprint */
                        auth: {
                            /** @enum {string} */
                            type: "none" | "basic" | "bearer" | "api-key" | "signature" | "oauth2" | "mtls" | "all";
                        } & {
                            [key: string]: unknown;
                        };
                        enabled: boolean;
                        /** @description Grows with every change */
                        version: number;
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        updatedAt: string;
                        /** @description Name of the API key that made the last change */
                        updatedBy: string;
                        quarantine: {
                            /** Format: date-time */
                            since: string;
                            reason: string;
                        } | null;
                        throttledUntil: string | null;
                        breaker: {
                            /** Format: date-time */
                            since: string;
                            /** Format: date-time */
                            openUntil: string;
                            trips: number;
                        } | null;
                        /** @description The signing secret that was made because none was given: shown this once */
                        secret?: string;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["changed_meanwhile"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable.secret_unavailable"];
        };
    };
    deleteSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; nothing more to say */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    enableSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscriber"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    disableSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscriber"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    rotateSubscriberSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Left out: one of the same kind is made and returned once */
                    secret?: string;
                    /** @default 86400 */
                    overlapSeconds?: number;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        url: string;
                        filter: {
                            statuses?: string[];
                            attributes?: {
                                [key: string]: string[];
                            };
                        };
                        delivery: {
                            timeoutMs: number;
                            connectTimeoutMs: number;
                            /** @enum {string} */
                            payload: "full" | "id-only" | "empty";
                            headers: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            keepResponse: "off" | "hash" | "text";
                            maxAttempts: number;
                            backoff?: {
                                initialMs: number;
                                maxMs: number;
                                jitter: number;
                            } | {
                                delaysMs: number[];
                                jitter: number;
                            };
                            maxElapsedMs: number;
                            concurrency: number;
                            ratePerSecond?: number;
                            /** @enum {string} */
                            ordering: "none" | "latest" | "strict";
                            /** @enum {string} */
                            onDead: "block" | "pass";
                            sequence: boolean;
                            /** @enum {string} */
                            conflictMeans: "retry" | "delivered";
                            propagate?: ("tracestate" | "baggage")[];
                        };
                        /** @description As it was put, each secret replaced by its fingerprint */
                        auth: {
                            /** @enum {string} */
                            type: "none" | "basic" | "bearer" | "api-key" | "signature" | "oauth2" | "mtls" | "all";
                        } & {
                            [key: string]: unknown;
                        };
                        enabled: boolean;
                        /** @description Grows with every change */
                        version: number;
                        /** Format: date-time */
                        createdAt: string;
                        /** Format: date-time */
                        updatedAt: string;
                        /** @description Name of the API key that made the last change */
                        updatedBy: string;
                        quarantine: {
                            /** Format: date-time */
                            since: string;
                            reason: string;
                        } | null;
                        throttledUntil: string | null;
                        breaker: {
                            /** Format: date-time */
                            since: string;
                            /** Format: date-time */
                            openUntil: string;
                            trips: number;
                        } | null;
                        /** @description The secret that was made, shown this once; null if it was given, and of ed25519 */
                        secret: string | null;
                        /** @description Of ed25519: what receivers verify with */
                        publicKey: string | null;
                        /**
                         * Format: date-time
                         * @description Until when the secret before is valid too
                         */
                        previousExpiresAt: string;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["not_rotatable.changed_meanwhile"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable.secret_unavailable"];
        };
    };
    testSubscriber: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestResult"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                shipmentId?: string;
                subscriberId?: string;
                state?: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
                outcome?: "accepted" | "rejected" | "unknown" | "not_sent";
                /** @description Of the delivery, such as `attempts_exhausted` */
                reason?: string;
                /** @description Created at or after */
                from?: string;
                /** @description Created before */
                to?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Delivery"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    replayDeliveries: {
        parameters: {
            query?: {
                shipmentId?: string;
                subscriberId?: string;
                state?: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
                outcome?: "accepted" | "rejected" | "unknown" | "not_sent";
                /** @description Of the delivery, such as `attempts_exhausted` */
                reason?: string;
                /** @description Created at or after */
                from?: string;
                /** @description Created before */
                to?: string;
                dryRun?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dryRun: boolean;
                        /** @description How many became owed again, or would */
                        deliveries: number;
                    };
                };
            };
            /** @description Accepted: it is written down and will be done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dryRun: boolean;
                        /** @description How many became owed again, or would */
                        deliveries: number;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The idempotency key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it is written down and will be done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["not_replayable"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The idempotency key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getDeliveryHistory: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The idempotency key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            attempts: {
                                /** @description Counts every claim, replays included */
                                number: number;
                                /** @description Null while the attempt is under way */
                                outcome: ("accepted" | "rejected" | "unknown" | "not_sent") | null;
                                reason: string | null;
                                /** @description What went wrong, for people */
                                detail: string | null;
                                statusCode: number | null;
                                leaseId: string;
                                worker: string;
                                /** Format: date-time */
                                claimedAt: string;
                                /** Format: date-time */
                                leaseUntil: string;
                                renewals: number;
                                leaseEnd: ("settled" | "expired") | null;
                                /** @description When the request began to be written; null if it certainly did not leave */
                                leftAt: string | null;
                                endedAt: string | null;
                                /** @description The version of the subscriber that was used */
                                subscriberVersion: number;
                                /** @description The secrets it was made with, by type and fingerprint */
                                readonly keyIds: string[];
                                /** @description What was connected to */
                                address?: string;
                                /** @description What `delivery.keepResponse` keeps */
                                response?: {
                                    /** @description Of the body, that were read */
                                    bytes: number;
                                    /** @description Of those, hexadecimal */
                                    sha256: string;
                                    /** @description The first 2 KiB */
                                    text?: string;
                                };
                                traceId: string | null;
                                spanId: string | null;
                                /** @description What a worker reported after it had lost the lease; it moved no state */
                                late?: {
                                    /** @enum {string} */
                                    outcome: "accepted" | "rejected" | "unknown" | "not_sent";
                                    reason: string | null;
                                    statusCode: number | null;
                                    leftAt: string | null;
                                    /** Format: date-time */
                                    reportedAt: string;
                                };
                            }[];
                            transitions: {
                                /** Format: date-time */
                                at: string;
                                from: ("pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled") | null;
                                /** @enum {string} */
                                to: "pending" | "queued" | "in_flight" | "delivered" | "dead" | "superseded" | "cancelled";
                                /** @description `run:<id>`, `lease:<id>`, `claim:<id>`, `ordering` or `operator:<key name>` */
                                cause: string;
                                reason: string | null;
                            }[];
                        }[];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getShipment: {
        parameters: {
            query?: {
                /** @description Only what became of it for this one */
                subscriberId?: string;
                cursor?: string;
                /** @description Versions; a large page ends earlier */
                limit?: number;
            };
            header?: never;
            path: {
                shipmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shipment"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                kind?: "delivery" | "message";
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["DeadLetter"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    reprocessDeadLetter: {
        parameters: {
            query: {
                id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: it is written down and will be done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        topic: string;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["not_reprocessable.already_done"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                job?: "dispatch" | "retention";
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Run"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job: string;
                slot: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    fireTick: {
        parameters: {
            query?: {
                /** @description Nominal time of the firing; default now */
                slot?: string;
            };
            header?: never;
            path: {
                job: "dispatch" | "retention";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listRetentionPolicies: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RetentionPolicy"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getRetentionPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionPolicy"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    putRetentionPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetentionPolicyInput"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionPolicy"];
                };
            };
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionPolicy"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["not_observed"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listRetentionPolicyVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RetentionPolicy"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listRetentionHolds: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RetentionHold"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getRetentionHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                shipmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionHold"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    putRetentionHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                shipmentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionHold"];
                };
            };
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionHold"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    deleteRetentionHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                shipmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; nothing more to say */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listRetentionRuns: {
        parameters: {
            query?: {
                policyId?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RetentionRun"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getRetentionRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetentionRun"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getSweeping: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sweeping"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    putSweeping: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Left out: stays as it is */
                    paused?: boolean;
                    /** @description Null: no limit. Left out: stays as it is */
                    deletesPerSecond?: number | null;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sweeping"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listLedger: {
        parameters: {
            query?: {
                /** @description Of a delivery, an event (shipment:version), a run or a message */
                recordId?: string;
                shipmentId?: string;
                runId?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["LedgerEntry"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    verifyRetentionRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunVerification"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    proveDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionProof"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listErasures: {
        parameters: {
            query?: {
                /** @description Compared by its hash: also once it is done */
                shipmentId?: string;
                state?: "open" | "done";
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Erasure"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    eraseShipment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    shipmentId: string;
                    reason: string;
                    /**
                     * @description Deliveries that are still owed: wait until they are closed, or cancel them
                     * @default wait
                     * @enum {string}
                     */
                    open?: "wait" | "cancel";
                };
            };
        };
        responses: {
            /** @description Accepted: it is written down and will be done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query.invalid_json"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["held"];
            413: components["responses"]["too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getErasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description What was changed, such as `subscribers/clinic` */
                target?: string;
                /** @description Name of an API key */
                actor?: string;
                /** @description operationId of a call */
                action?: string;
                /** @description At or after */
                from?: string;
                /** @description Before */
                to?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AuditEntry"][];
                        /** @description Gives the next page; null on the last */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getSubscriberHealth: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @description That ended, of its newest 100 deliveries, the last 5 of each */
                        attempts: number;
                        /** @description Of those */
                        accepted: number;
                        /** @description From the first byte of the request to the end of the answer; null: nothing was answered */
                        latencyMs: {
                            median: number;
                            p95: number;
                        } | null;
                        /** @description Counted up to 10,000 */
                        owed: number;
                        /** @description When the owed delivery that comes first is, or was, due */
                        oldestDueAt: string | null;
                        /** @description The newest attempt among them that was not accepted */
                        lastFailure: {
                            deliveryId: string;
                            /** Format: date-time */
                            at: string;
                            /** @enum {string} */
                            outcome: "accepted" | "rejected" | "unknown" | "not_sent";
                            reason: string | null;
                            statusCode: number | null;
                            detail: string | null;
                            /** @description What it means and what to do */
                            explanation: string | null;
                        } | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["not_found"];
            408: components["responses"]["request_timeout"];
            422: components["responses"]["invalid"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    listDeadLetterGroups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            subscriberId: string;
                            reason: string | null;
                            count: number;
                            /**
                             * Format: date-time
                             * @description When the first of them was made
                             */
                            madeFrom: string;
                            /**
                             * Format: date-time
                             * @description When the last of them was made
                             */
                            madeTo: string;
                            /**
                             * Format: date-time
                             * @description When the last of them died
                             */
                            lastAt: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    watchLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        at: string;
                        /**
                         * Format: date-time
                         * @description From when on `events` and `closed` are counted, up to `at`
                         */
                        since: string;
                        /** @description Fanned out */
                        events: number;
                        closed: {
                            delivered: number;
                            dead: number;
                            superseded: number;
                            cancelled: number;
                        };
                        /** @description Deliveries that are still owed */
                        owed: number;
                        /** @description When the one that is due the longest was due, of those that may be sent now; null: none is due. As the metric `waybill_oldest_due_seconds` */
                        oldestDueAt: string | null;
                        /** @description Dead deliveries in all */
                        dead: number;
                        breakersOpen: number;
                        /** @description Subscribers */
                        quarantined: number;
                        /** @description Events in Kafka that fan-out has not taken; null: Kafka does not answer */
                        lag: number | null;
                    };
                    "text/event-stream": {
                        /** Format: date-time */
                        at: string;
                        /**
                         * Format: date-time
                         * @description From when on `events` and `closed` are counted, up to `at`
                         */
                        since: string;
                        /** @description Fanned out */
                        events: number;
                        closed: {
                            delivered: number;
                            dead: number;
                            superseded: number;
                            cancelled: number;
                        };
                        /** @description Deliveries that are still owed */
                        owed: number;
                        /** @description When the one that is due the longest was due, of those that may be sent now; null: none is due. As the metric `waybill_oldest_due_seconds` */
                        oldestDueAt: string | null;
                        /** @description Dead deliveries in all */
                        dead: number;
                        breakersOpen: number;
                        /** @description Subscribers */
                        quarantined: number;
                        /** @description Events in Kafka that fan-out has not taken; null: Kafka does not answer */
                        lag: number | null;
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
    getCaller: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Name of the API key */
                        name: string;
                        /** @enum {string} */
                        role: "ingest" | "operator" | "admin";
                    };
                };
            };
            400: components["responses"]["malformed_request.invalid_query"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["forbidden"];
            408: components["responses"]["request_timeout"];
            429: components["responses"]["rate_limited"];
            431: components["responses"]["headers_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["unavailable"];
        };
    };
}
