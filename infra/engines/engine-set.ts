/** An engine that was started here. `pid` is null where it is no process of this launcher's. */
export interface StartedEngine {
  readonly address: string;
  readonly pid: number | null;
}

/** The engines that were wanted; the others are undefined. */
export interface StartedEngines {
  kafka: StartedEngine | undefined;
  mongodb: StartedEngine | undefined;
  registry: StartedEngine | undefined;
  stop(): Promise<void>;
}
