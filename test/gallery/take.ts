import { mkdir } from 'node:fs/promises';
import { AxeBuilder } from '@axe-core/playwright';
import { openWindow, type Look } from './open-window.ts';
import { shots } from './shots.ts';

/**
 * Pictures of every page, in both themes and high contrast, each in three sizes, into out/gallery/; each is checked by axe and watched for
 * violations of the content security policy. `node test/gallery/take.ts [name…] [--quick]`: names begin a shot's
 * name; --quick takes two looks, --one takes one, --zoom takes 1440×900 at 200 %; --draw-only leaves axe out, which
 * takes most of the time; --forced takes high contrast alone; --width=1920 one size. Exits 1 when anything was found.
 */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const quick = process.argv.includes('--quick');
const zoom = process.argv.includes('--zoom');
const drawOnly = process.argv.includes('--draw-only');
const forced = process.argv.includes('--forced');
const one = process.argv.includes('--one');
const width = Number(
  /^--width=(\d+)$/.exec(process.argv.find((given) => given.startsWith('--width=')) ?? '')?.[1],
);
const all: Look[] = [
  { theme: 'light', width: 1_920, height: 1_080 },
  { theme: 'dark', width: 1_920, height: 1_080 },
  { theme: 'light', width: 1_440, height: 900 },
  { theme: 'dark', width: 1_440, height: 900 },
  { theme: 'light', width: 1_024, height: 700 },
  { theme: 'dark', width: 1_024, height: 700 },
  { theme: 'dark', width: 1_440, height: 900, forcedColors: true },
  { theme: 'dark', width: 1_920, height: 1_080, forcedColors: true },
  { theme: 'dark', width: 1_024, height: 700, forcedColors: true },
];
const zoomed: Look[] = [{ theme: 'light', width: 720, height: 450 }];
const looks = zoom
  ? zoomed
  : all.filter(
      ({ forcedColors = false, width: own }, index) =>
        (Number.isNaN(width) || own === width) &&
        forcedColors === forced &&
        (one ? index === 4 : !quick || index === 3 || index === 4 || forced),
    );

/** What of the page can be scrolled sideways, which nothing but a table may be, at 200 % too. */
const sideways = `[document.documentElement, ...document.querySelectorAll('main, main > *, main > * > *, aside, nav')]
  .filter((one) => one === document.documentElement || /auto|scroll/.test(getComputedStyle(one).overflowX))
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.matches('[role=grid], .scroller'))
  .map((one) => 'scrolls sideways: ' + one.localName + '.' + one.className)`;

/** The window itself, whose bars would be gone: what gets the focus is scrolled into view by all that can be scrolled. */
const longer = `document.documentElement.scrollHeight > innerHeight ? ['the window can be scrolled'] : []`;

/** What hangs over the edge of the cell it stands in. */
const overhanging = `[...document.querySelectorAll('dd button, td button')]
  .filter((one) => {
    const [inner, outer] = [one, one.closest('dd, td')].map((element) => element.getBoundingClientRect());
    return inner.width > 0 && inner.right > outer.right + 0.5;
  })
  .map((one) => 'hangs over its cell: ' + (one.ariaLabel ?? one.textContent))`;

const out = new URL('../../out/gallery/', import.meta.url).pathname;
await mkdir(out, { recursive: true });
const { page, violations, show, close } = await openWindow();
let found = 0;
let taken = 0;
for (const shot of shots) {
  if (wanted.length > 0 && !wanted.some((name) => shot.name.startsWith(name))) continue;
  for (const sized of Map.groupBy(looks, ({ width }) => width).values()) {
    const [first] = sized;
    if (first === undefined) continue;
    // Where the way to a shot fails, its picture shows how far it came.
    const problem = await show(shot.scene, { ...first, ...shot.look })
      .then(() => shot.steps?.(page))
      .then(() => null, String);
    for (const { theme, width, forcedColors } of sized) {
      const name = `${shot.name}-${forcedColors === true ? 'forced' : theme}-${width}`;
      if (problem !== null) violations.push(problem);
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(50);
      await page.screenshot({ path: `${out}${name}.png` });
      const { violations: axe } = drawOnly ? { violations: [] } : await new AxeBuilder({ page }).analyze();
      for (const { id, nodes } of axe) {
        for (const node of nodes) {
          violations.push(`axe ${id}: ${node.target.join(' ')} ${node.any[0]?.message ?? ''}`);
        }
      }
      for (const flaws of [sideways, longer, overhanging])
        violations.push(...(await page.evaluate<string[]>(flaws)));
      taken += 1;
      found += violations.length;
      for (const violation of violations.splice(0)) console.log(`${name}: ${violation}`);
    }
  }
}
await close();
console.log(`${taken} pictures in out/gallery, ${found} findings`);
process.exitCode = found === 0 ? 0 : 1;
