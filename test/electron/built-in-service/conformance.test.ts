import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { startBuiltInService, type RunningBuiltInService } from '../../../electron/built-in-service/start.ts';
import { builtInTarget } from '../../conformance/built-in-target.ts';
import { check, STATEMENTS } from '../../conformance/run-conformance.ts';
import { Target } from '../../conformance/target.ts';

let service: RunningBuiltInService;
let target: Target;

beforeAll(async () => {
  const { start, options } = builtInTarget(new Uint8Array(32).fill(8), defaultSeed as Seed);
  service = await startBuiltInService(start);
  target = new Target(options(service));
});
afterAll(async () => {
  await target.close();
  await service.stop();
});

/** The same as npm run conformance, one test for each statement, in its order. */
describe('the built-in service does what the specification says', () => {
  it.each(STATEMENTS.map((statement) => [statement.section, statement.says, statement] as const))(
    '§%s %s',
    async (_section, _says, statement) => {
      const { outcome, remark } = await check(statement, target);
      expect(outcome, remark).not.toBe('fail');
    },
  );
});
