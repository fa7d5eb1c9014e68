import type { OperationId } from '@waybill/client';
import { usePermission } from '../permissions.ts';
import css from './parts.module.css';

interface Props {
  /** The call it makes: whoever may not make it is told why. */
  readonly operation: OperationId;
  readonly onPress: () => void;
  readonly children: React.ReactNode;
  readonly primary?: boolean;
  readonly disabled?: boolean;
}

/** A button for a call that not every role may make. */
export function GuardedButton({ operation, onPress, children, primary = false, disabled = false }: Props) {
  const { allowed, reason } = usePermission()(operation);
  return (
    <span>
      <button
        type="button"
        className={primary ? 'primary' : ''}
        disabled={disabled || !allowed}
        onClick={onPress}
      >
        {children}
      </button>
      {reason && <span className={css.why}> {reason}</span>}
    </span>
  );
}
