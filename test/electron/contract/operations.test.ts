import { describe, expect, test } from 'vitest';
import {
  columnOperationNames,
  givenBy,
  isBatchOperation,
  operationInfo,
  operationNames,
} from '../../../electron/contract/operations.ts';
import { operations } from '../../../electron/service/operations.ts';
import { batchCall } from '../../../electron/service/service-client.ts';
import { operations as ofBuiltInService } from '../../../electron/built-in-service/operations.ts';

describe('the operations', () => {
  test('have the parameters that the built-in service takes, which has a list of its own', () => {
    const own = Object.entries(ofBuiltInService).map(
      ([name, { input }]) => [name, Object.keys(input.shape).sort()] as const,
    );
    expect(
      Object.entries(operations).map(([name, { parameters }]) => [name, [...parameters].sort()]),
    ).toEqual(own);
  });

  test('refuse what was sent as an answer, but where a token may become the same one or nothing is shown', () => {
    const refusing = operationNames.filter((name) => operations[name].refusesEcho);
    expect(refusing).toEqual(['Tokenize', 'Detokenize', 'GetMasked', 'BatchTokenize', 'BatchDetokenize']);
  });

  test('of a column give what its result is shown as', () => {
    expect(Object.fromEntries(columnOperationNames.map((name) => [name, givenBy(name)]))).toEqual({
      detokenize: 'cleartext',
      mask: 'mask',
      tokenize: 'token',
      translate: 'token',
      match: 'cleartext',
    });
  });

  test.each(operationNames.filter(isBatchOperation))('%s is called with what it takes alone', (name) => {
    const target = { policy: 'p2', definition: 'd2' };
    const all = { policy: 'p1', definition: 'd1', target, pattern: '^4' };
    const { sessions, isMatch } = operationInfo[name];
    expect(batchCall(name, all)).toEqual({
      operation: name,
      policy: 'p1',
      definition: 'd1',
      ...(sessions === 2 && { target }),
      ...(isMatch && { pattern: '^4' }),
    });
    if (sessions === 2) expect(() => batchCall(name, { ...all, target: null })).toThrow(TypeError);
    if (isMatch) expect(() => batchCall(name, { ...all, pattern: null })).toThrow(TypeError);
  });
});
