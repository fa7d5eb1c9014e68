import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, type Schemas } from '@waybill/client';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault } from '../parts/notice.tsx';
import { Pages } from '../parts/pages.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { waybill } from '../waybill.ts';
import { codeWords } from '../words/wait-words.ts';

type Message = Extract<Schemas['DeadLetter'], { kind: 'message' }>;

/** Messages that were put aside, newest first. */
export function Messages() {
  return (
    <Pages
      queryKey={['dead-messages']}
      read={async (cursor) => {
        const query = { kind: 'message' as const, limit: 25, ...cursor };
        const { items, nextCursor } = await answerOf(waybill.GET('/v1/dead-letters', { params: { query } }));
        return { items: items.filter((item): item is Message => item.kind === 'message'), nextCursor };
      }}
      what="messages"
      empty="None was put aside."
    >
      {(messages) => messages.map((message) => <MessageCard key={message.id} message={message} />)}
    </Pages>
  );
}

function MessageCard({ message }: { message: Message }) {
  const { id, at, topic, partition, offset, reason, detail, value, reprocess } = message;
  const queryClient = useQueryClient();
  const again = useMutation({
    mutationFn: () => answerOf(waybill.POST('/v1/dead-letters/reprocess', { params: { query: { id } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['dead-messages'] }),
  });
  return (
    <article className={parts.notice}>
      <p>
        <strong>{codeWords(reason)}</strong>, <Time at={at} />
        {topic === null ? ', came over HTTP' : `, ${topic} partition ${partition} offset ${offset}`}
      </p>
      <p>{detail}</p>
      {value !== null && (
        <details>
          <summary>Its bytes, as text</summary>
          <pre className={parts.scroll}>{textOf(value)}</pre>
        </details>
      )}
      {reprocess ? (
        <p className={parts.why}>
          Sent again by {reprocess.by} at <Time at={reprocess.begunAt} />.
        </p>
      ) : (
        topic !== null && (
          <GuardedButton
            operation="reprocessDeadLetter"
            disabled={again.isPending}
            onPress={() => again.mutate()}
          >
            Send to its topic again
          </GuardedButton>
        )
      )}
      {again.error && <Fault error={again.error} />}
    </article>
  );
}

function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
