import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import css from './parts.module.css';

interface Props {
  readonly title: string;
  /** What will happen, in words. */
  readonly children: React.ReactNode;
  /** What the button that does it says. */
  readonly action: string;
  readonly busy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something is done. Escape and a click beside it do nothing but close. */
export function Confirm({ title, children, action, busy = false, onConfirm, onClose }: Props) {
  return (
    <ModalOverlay
      className={css.underlay ?? ''}
      isOpen
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal>
        <Dialog role="alertdialog" className={css.dialog ?? ''}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          <div className={css.actions}>
            <Button className="primary" isDisabled={busy} onPress={onConfirm}>
              {action}
            </Button>
            <Button autoFocus onPress={onClose}>
              Cancel
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
