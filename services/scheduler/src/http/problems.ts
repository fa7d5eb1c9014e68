import { type Problem, problem } from '@waybill/shared/domain/errors';
import { KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import { isDatabaseUnavailable } from '@waybill/shared/stores/availability';

/** The problems of engines that do not answer. */
export function engineProblem(error: unknown): Problem | null {
  if (error instanceof KafkaUnavailableError)
    return problem('unavailable', 'Kafka did not confirm; posting again is safe');
  if (isDatabaseUnavailable(error))
    return problem('unavailable', 'MongoDB does not answer; trying again is safe');
  return null;
}
