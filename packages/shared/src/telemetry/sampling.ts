import { SpanKind, type TraceFlags } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { SAMPLER_NAMES, SPAN } from './trace-names.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The standard value of the sampled flag; spans that failed are exported with it set. */
export const SAMPLED: TraceFlags = 1;

const SAMPLERS: Readonly<Record<(typeof SAMPLER_NAMES)[number], (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

/**
 * The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name, by default `parentbased_always_on`; where it
 * leaves a span out that may turn out to have failed, the span is recorded all the same, so that it can be kept.
 */
export function samplerOf(env: Environment): Sampler {
  // A name that is none is refused where the environment is read, which comes later.
  const name = SAMPLER_NAMES.find((known) => known === env.OTEL_TRACES_SAMPLER) ?? 'parentbased_always_on';
  const given = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  const ratio = given >= 0 && given <= 1 ? given : 1;
  return recordingAttempts(SAMPLERS[name](ratio));
}

/** One span of each delivery's attempt and one of each request to the API: what that costs does not grow with detail. */
function recordingAttempts(chosen: Sampler): Sampler {
  return {
    shouldSample(context, traceId, name, kind, attributes, links) {
      const result = chosen.shouldSample(context, traceId, name, kind, attributes, links);
      const mayFail = name === SPAN.attempt || kind === SpanKind.SERVER;
      if (result.decision !== SamplingDecision.NOT_RECORD || !mayFail) return result;
      return { ...result, decision: SamplingDecision.RECORD };
    },
    toString: () => `RecordingAttempts{${chosen.toString()}}`,
  };
}
