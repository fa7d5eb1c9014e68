import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ApiError, answerOf } from '@waybill/client';
import { useState } from 'react';
import { Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Title } from '../parts/title.tsx';
import { usePermission } from '../permissions.ts';
import { type Subscriber, waybill } from '../waybill.ts';
import { type Draft, draftOf, type Faults, fieldOf, type Terms, termsOf } from './draft.ts';
import { DraftFields } from './draft-fields.tsx';
import { subscriberQuery } from './subscriber-queries.ts';

export function EditSubscriberPage({ id }: { id: string }) {
  const query = useQuery({ ...subscriberQuery(id), refetchInterval: false });
  return (
    <>
      <Title>{`Edit subscriber ${id}`}</Title>
      <Loaded query={query} what="the subscriber">
        {(subscriber) => <EditForm before={subscriber} />}
      </Loaded>
    </>
  );
}

export function NewSubscriberPage() {
  return (
    <>
      <Title>New subscriber</Title>
      <EditForm before={null} />
    </>
  );
}

/** Puts a subscriber whole. What the form knows to be wrong is not sent. */
function EditForm({ before }: { before: Subscriber | null }) {
  // As it was when the form was opened: what others change meanwhile is told by the API.
  const [opened] = useState(before);
  const [draft, setDraft] = useState<Draft>(() => draftOf(opened));
  const [faults, setFaults] = useState<Faults>({});
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { allowed, reason } = usePermission()('putSubscriber');
  const put = useMutation({
    mutationFn: (terms: Terms) =>
      answerOf(
        waybill.PUT('/v1/subscribers/{id}', {
          params: { path: { id: draft.id } },
          // The API judges `auth`; its document says more of it than can be known here.
          body: terms as never,
        }),
      ),
    async onSuccess({ secret, ...subscriber }) {
      queryClient.setQueryData(subscriberQuery(draft.id).queryKey, subscriber);
      await queryClient.invalidateQueries({ queryKey: ['subscribers'] });
      if (secret === undefined) await navigate({ to: '/subscribers/$id', params: { id: draft.id } });
    },
    onError: (error) => setFaults(faultsIn(error)),
  });

  if (put.data?.secret)
    return (
      <Notice tone="good">
        <p>
          {draft.id} was saved. The signing secret that was made, shown this once:{' '}
          <code>{put.data.secret}</code>
        </p>
        <Link to="/subscribers/$id" params={{ id: draft.id }}>
          I have kept it
        </Link>
      </Notice>
    );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const read = termsOf(draft, opened);
        setFaults(read.faults ?? {});
        put.reset();
        if (read.terms) put.mutate(read.terms);
      }}
    >
      <DraftFields
        draft={draft}
        faults={faults}
        isNew={opened === null}
        onChange={(field, value) => setDraft((now) => ({ ...now, [field]: value }))}
      />
      {Object.keys(faults).length > 0 && (
        <p className={parts.fault} role="alert">
          Not saved: {Object.keys(faults).length}{' '}
          {Object.keys(faults).length === 1 ? 'field has a fault' : 'fields have faults'}. {faults.rest}
        </p>
      )}
      {put.error && <Fault error={put.error} />}
      <div className={parts.actions}>
        <button type="submit" className="primary" disabled={!allowed || put.isPending}>
          {put.isPending ? 'Saving…' : 'Save'}
        </button>
        {reason && <span className={parts.why}>{reason}</span>}
        {opened && (
          <Link to="/subscribers/$id" params={{ id: opened.id }}>
            Cancel
          </Link>
        )}
      </div>
    </form>
  );
}

/** What the API said, at the fields it said it of. */
function faultsIn(error: Error): Faults {
  if (!(error instanceof ApiError)) return {};
  const found: Partial<Record<keyof Draft | 'rest', string>> = {};
  for (const { path, message } of error.faults) {
    const field = fieldOf(path.replace(/^\$\.?/, '').split(/[.[\]]+/));
    if (field !== 'rest') found[field] ??= message;
  }
  return found;
}
