import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { useRef, useState } from 'react';
import { Label, ProgressBar } from 'react-aria-components';
import { Confirm } from '../parts/confirm.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { waybill } from '../waybill.ts';
import type { DeadFilter } from './dead-filter.ts';
import type { DeadGroup } from './dead-groups.ts';
import { type Slice, slicesOf } from './slices.ts';

interface Progress {
  readonly done: number;
  readonly of: number;
}

/** Replays every dead delivery that the filter names: first how many, then part after part. */
export function ReplayMany({ filter, groups }: { filter: DeadFilter; groups: readonly DeadGroup[] }) {
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [replayed, setReplayed] = useState<number | null>(null);
  const stopped = useRef(false);
  const slices = slicesOf(filter, groups);

  const preview = useMutation({
    mutationFn: async () => {
      setReplayed(null);
      return (await each(slices, true, () => true)).deliveries;
    },
  });
  const replay = useMutation({
    mutationFn: async () => {
      stopped.current = false;
      const { deliveries } = await each(slices, false, (done) => {
        setProgress({ done, of: slices.length });
        return !stopped.current;
      });
      return deliveries;
    },
    onSuccess: setReplayed,
    async onSettled() {
      setProgress(null);
      preview.reset();
      await queryClient.invalidateQueries({ queryKey: ['dead-groups'] });
      await queryClient.invalidateQueries({ queryKey: ['deliveries'] });
    },
  });

  return (
    <>
      <div className={parts.actions}>
        <GuardedButton
          operation="replayDeliveries"
          disabled={slices.length === 0 || preview.isPending || replay.isPending}
          onPress={() => preview.mutate()}
        >
          {preview.isPending ? 'Counting…' : 'Replay these…'}
        </GuardedButton>
      </div>
      {preview.error && <Fault error={preview.error} />}
      {preview.data !== undefined && !replay.isPending && (
        <Confirm
          title={`Replay ${preview.data.toLocaleString()} dead ${preview.data === 1 ? 'delivery' : 'deliveries'}?`}
          action="Replay"
          busy={preview.data === 0}
          onConfirm={() => replay.mutate()}
          onClose={() => preview.reset()}
        >
          <p>
            {describe(filter)} Each is sent the same bytes again, under the same key, with its limits anew.
            What could not be sent anyway is left out.
          </p>
        </Confirm>
      )}
      {progress && (
        <ProgressBar value={progress.done} maxValue={progress.of}>
          {({ percentage = 0, valueText }) => (
            <>
              <Label>Replaying: {valueText}</Label>
              <div className={parts.bar}>
                <div className={parts.fill} style={{ width: `${percentage}%` }} />
              </div>
              <button
                type="button"
                onClick={() => {
                  stopped.current = true;
                }}
              >
                Stop
              </button>
            </>
          )}
        </ProgressBar>
      )}
      {replay.error && <Fault error={replay.error} />}
      {replayed !== null && (
        <Notice tone="good">
          <p>
            {replayed.toLocaleString()} {replayed === 1 ? 'delivery is' : 'deliveries are'} owed again.
          </p>
        </Notice>
      )}
    </>
  );
}

/** @param goOn told how many slices are done; whether to go on. */
async function each(slices: readonly Slice[], dryRun: boolean, goOn: (done: number) => boolean) {
  let deliveries = 0;
  for (const [index, slice] of slices.entries()) {
    if (!goOn(index)) break;
    const query = {
      ...slice,
      state: 'dead' as const,
      dryRun: dryRun ? ('true' as const) : ('false' as const),
    };
    deliveries += (await answerOf(waybill.POST('/v1/deliveries/replay', { params: { query } }))).deliveries;
    goOn(index + 1);
  }
  return { deliveries };
}

function describe({ subscriberId, reason, shipmentId }: DeadFilter): string {
  const said = [
    subscriberId === undefined ? null : `of ${subscriberId}`,
    reason === undefined ? null : `that died of ${reason.replaceAll('_', ' ')}`,
    shipmentId === undefined ? null : `of shipment ${shipmentId}`,
  ].filter((part) => part !== null);
  return said.length === 0 ? 'All dead deliveries of all subscribers.' : `Those ${said.join(', ')}.`;
}
