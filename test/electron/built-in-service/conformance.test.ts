import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { check } from '../../../electron/conformance/statement.ts';
import { statements } from '../../../electron/conformance/suite.ts';
import { startBuiltInTarget } from '../../support/built-in-target.ts';
import { Target } from '../../../electron/conformance/target.ts';

let service: Awaited<ReturnType<typeof startBuiltInTarget>>;
let target: Target;

beforeAll(async () => {
  service = await startBuiltInTarget(new Uint8Array(32).fill(8), defaultSeed as Seed);
  target = new Target(service.options);
});
afterAll(async () => {
  await target.close();
  await service.stop();
});

/** The same as npm run conformance, one test for each statement, in its order. */
describe('the built-in service does what the specification says', () => {
  it.each(statements.map((statement) => [statement.section, statement.text, statement] as const))(
    '§%s %s',
    async (_section, _text, statement) => {
      const { outcome, remark } = await check(statement, target);
      expect(outcome, remark).not.toBe('fail');
    },
  );
});
