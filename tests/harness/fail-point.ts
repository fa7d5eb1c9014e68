import type { Db } from 'mongodb';

export interface FailingCommands {
  /** How many commands fail before the database is well again. */
  readonly times: number;
  readonly commands: readonly string[];
  readonly errorCode: number;
  readonly labels: readonly string[];
  /** Only those of this client. */
  readonly application: string;
}

export interface FailPoint extends AsyncDisposable {
  /** How many commands have failed so far. */
  hits(): Promise<number>;
}

/** Makes the database fail commands on purpose. It must have been started with test commands enabled. */
export async function failCommands(db: Db, failing: FailingCommands): Promise<FailPoint> {
  const admin = db.admin();
  const { times, commands, errorCode, labels, application } = failing;
  const { count: before } = await admin.command({
    configureFailPoint: 'failCommand',
    mode: { times },
    data: { failCommands: commands, errorCode, errorLabels: labels, appName: application },
  });
  const off = () => admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
  return {
    hits: async () => (await off()).count - before,
    [Symbol.asyncDispose]: async () => {
      await off();
    },
  };
}
