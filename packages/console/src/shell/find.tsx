import { useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { useState } from 'react';
import { waybill } from '../waybill.ts';
import css from './shell.module.css';

/** Leads to a delivery, or else to a shipment, by its id. */
export function Find() {
  const [text, setText] = useState('');
  const navigate = useNavigate();

  async function find(id: string): Promise<void> {
    const isDelivery = await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } })).then(
      () => true,
      () => false,
    );
    setText('');
    if (isDelivery) await navigate({ to: '/deliveries/$id', params: { id } });
    else await navigate({ to: '/shipments/$shipmentId', params: { shipmentId: id } });
  }

  return (
    <search className={css.find}>
      <form
        className={css.find}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void find(text.trim());
        }}
      >
        <label className="hidden" htmlFor="find">
          Shipment or delivery id
        </label>
        <input
          id="find"
          placeholder="Shipment or delivery id"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">Find</button>
      </form>
    </search>
  );
}
