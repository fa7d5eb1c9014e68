import { useState } from 'react';
import { UNSAFE_PortalProvider } from 'react-aria/PortalProvider';
import { Button, Tooltip, TooltipTrigger } from 'react-aria-components';
import css from './parts.module.css';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const SHORT_CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const ZONE = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

/** How long a pointer rests on a time until UTC is told, in milliseconds. */
const RESTS_MS = 300;

/** A time of day in the reader's zone, to the millisecond. */
export function clock(at: string): string {
  return CLOCK.format(new Date(at));
}

/** A day in the reader's zone. */
export function day(at: string): string {
  return DAY.format(new Date(at));
}

/** The same instant in UTC. */
export function utc(at: string): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/** The whole of it in the reader's zone, with the zone's name. */
function here(at: string): string {
  const zone = ZONE.formatToParts(new Date(at)).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${day(at)}, ${clock(at)} ${zone}`;
}

/** What is told is part of the page, so it belongs into its main part. */
function mainOf(): HTMLElement {
  return document.querySelector('main') ?? document.body;
}

interface Props {
  readonly at: string;
  /** The time of day to the millisecond, without its day. */
  readonly precise?: boolean;
}

/**
 * A time in the reader's zone. Who points at it, comes to it by keyboard or taps it is told UTC, and the whole of it here;
 * Escape ends that.
 */
export function Time({ at, precise = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <TooltipTrigger
      delay={RESTS_MS}
      closeDelay={RESTS_MS}
      shouldCloseOnPress={false}
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      <Button
        className={css.time ?? ''}
        onPress={({ pointerType }) => {
          // Fingers do not hover, and neither do screen readers.
          if (pointerType === 'touch' || pointerType === 'virtual') setOpen((open) => !open);
        }}
      >
        <time dateTime={at}>{precise ? clock(at) : `${day(at)}, ${SHORT_CLOCK.format(new Date(at))}`}</time>
      </Button>
      <UNSAFE_PortalProvider getContainer={mainOf}>
        <Tooltip className={css.tooltip ?? ''} offset={4}>
          <strong>{utc(at)}</strong>
          <br />
          {here(at)}
        </Tooltip>
      </UNSAFE_PortalProvider>
    </TooltipTrigger>
  );
}
