import { describe, expect, it } from 'vitest';
import { matches, type SubscriberFilter } from './filter.ts';

const EVENT = { status: 'delivered', attributes: { region: 'eu', cold: '' } };

describe('a filter lets an event through', () => {
  it.each<[string, SubscriberFilter]>([
    ['when it asks for nothing', {}],
    ['when its lists are empty', { statuses: [], attributes: { region: [] } }],
    ['when an empty list names an attribute the event lacks', { attributes: { carrier: [] } }],
    ['by one of the statuses', { statuses: ['lost', 'delivered'] }],
    ['by one of the values', { attributes: { region: ['us', 'eu'] } }],
    ['by an empty value', { attributes: { cold: [''] } }],
    [
      'when status and every attribute fit',
      { statuses: ['delivered'], attributes: { region: ['eu'], cold: [''] } },
    ],
  ])('%s', (_, filter) => {
    expect(matches(filter, EVENT)).toBe(true);
  });
});

describe('a filter holds an event back', () => {
  it.each<[string, SubscriberFilter]>([
    ['of another status', { statuses: ['lost'] }],
    ['of a status that differs in case', { statuses: ['Delivered'] }],
    ['of another value', { attributes: { region: ['us'] } }],
    ['that lacks the attribute, even if an empty value would do', { attributes: { carrier: [''] } }],
    ['that fits only one of two attributes', { attributes: { region: ['eu'], cold: ['yes'] } }],
    ['of the right attribute and the wrong status', { statuses: ['lost'], attributes: { region: ['eu'] } }],
    ['by a name that every object inherits', { attributes: { constructor: ['', 'Object'] } }],
  ])('%s', (_, filter) => {
    expect(matches(filter, EVENT)).toBe(false);
  });
});
