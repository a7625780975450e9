import type { Page } from '@playwright/test';
import { batchShots } from './batch-shots.ts';
import { comparisonShots } from './comparison-shots.ts';
import { inventoryShots } from './inventory-shots.ts';
import { moveShots } from './move-shots.ts';
import { choose, go, tryAgain, type Shot } from './page-steps.ts';

const lookUp = async (page: Page): Promise<void> => {
  await page.getByRole('textbox', { name: 'Case' }).fill('D-20931');
  await page.getByRole('textbox', { name: 'Token' }).fill('4111 1173-0921 1111');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result' }).waitFor();
};

const administer = (page: Page): Promise<void> => go(page, 'Administration');

export const shots: Shot[] = [
  ...batchShots,
  ...inventoryShots,
  ...comparisonShots,
  ...moveShots,
  // The pictures of the README.
  {
    name: 'docs-lookup',
    scene: 'case',
    steps: async (page) => {
      await page.getByRole('button', { name: /^D-20931/ }).click();
      await page.getByText('Revealed').first().waitFor();
      await page.getByRole('textbox', { name: 'Token' }).focus();
      for (let n = 0; n < 4; n += 1) await page.keyboard.press('ArrowUp');
      await page.getByText('Mastercard').waitFor();
      await page.getByRole('button', { name: 'Reveal', exact: true }).click();
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
      await page.keyboard.press('1');
      await page.getByRole('group', { name: 'In clear' }).waitFor();
    },
  },
  {
    name: 'docs-batch-running',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Open disputes-q3.csv' }).first().click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'docs-reports',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('slider', { name: 'Requests by day' }).waitFor();
    },
  },
  {
    name: 'story',
    scene: 'production',
    steps: async (page) => {
      await lookUp(page);
      await page.getByRole('button', { name: 'Story of this token' }).click();
      await page.getByText('Not searched').waitFor();
    },
  },
  { name: 'first-run', scene: 'first-run' },
  { name: 'first-run-provided', scene: 'first-run-provided' },
  { name: 'provided', scene: 'provided' },
  {
    name: 'first-run-failed',
    scene: 'first-run-failed',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Start the built-in service' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'lookup-empty', scene: 'empty' },
  { name: 'lookup-masked', scene: 'busy', steps: lookUp },
  {
    name: 'lookup-reveal-strip',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('Control+Shift+c');
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
    },
  },
  {
    name: 'lookup-exposed',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('Control+Shift+c');
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
      await page.keyboard.press('1');
      await page.getByRole('group', { name: 'In clear' }).waitFor();
    },
  },
  {
    name: 'lookup-translate',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.keyboard.press('x');
      await page.getByRole('region', { name: 'Translate' }).waitFor();
    },
  },
  {
    name: 'lookup-tokenize',
    scene: 'busy',
    steps: async (page) => {
      await page.getByText('Tokenize a value').click();
      await page.getByRole('textbox', { name: 'Value in clear' }).fill('4111117309211111');
    },
  },
  {
    name: 'lookup-typed-in-clear',
    scene: 'busy',
    steps: async (page) => {
      await page.getByText('Tokenize a value').click();
      await page.getByRole('button', { name: 'Show what is typed' }).click();
      await page.getByRole('textbox', { name: 'Value in clear' }).fill('4111117309211111');
      await page.getByRole('group', { name: 'Typed, in clear' }).waitFor();
    },
  },
  {
    name: 'lookup-card',
    scene: 'busy',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111 1111 1111 1111');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Tokenize it' }).waitFor();
    },
  },
  {
    name: 'lookup-unlikely',
    scene: 'busy',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('41111173092111114111117309211111');
      await page.keyboard.press('Enter');
      await page.getByText('This one has 32 digits').waitFor();
    },
  },
  {
    name: 'lookup-email',
    scene: 'busy',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('qwz1n@example.org');
      await page.getByText('E-mail address, detected').waitFor();
    },
  },
  {
    name: 'lookup-lines',
    scene: 'busy',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).focus();
      await page.evaluate(`(() => {
        const data = new DataTransfer();
        data.setData('text/plain', '4111\\n5222\\n6333');
        document.activeElement.dispatchEvent(
          new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      })()`);
      await page.getByRole('region', { name: 'Several lines' }).waitFor();
    },
  },
  {
    name: 'lookup-tokenized',
    scene: 'busy',
    steps: async (page) => {
      await page.getByText('Tokenize a value').click();
      await page.getByRole('textbox', { name: 'Value in clear' }).fill('4111111111111111');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Copy token' }).click();
      await page.getByText('Token copied. Clears').waitFor();
    },
  },
  {
    name: 'lookup-copied-in-clear',
    scene: 'busy',
    steps: async (page) => {
      await lookUp(page);
      await page.getByRole('button', { name: 'Copy cleartext' }).click();
      await page.getByRole('region', { name: 'Copy cleartext' }).waitFor();
      await page.keyboard.press('1');
      await page.getByText('Cleartext copied. Clears').waitFor();
    },
  },
  {
    name: 'case-open',
    scene: 'case',
    steps: async (page) => {
      await page.getByRole('button', { name: /^D-20931/ }).click();
      await page.getByText('Revealed').first().waitFor();
    },
  },
  {
    name: 'case-batches',
    scene: 'case',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Case', exact: true }).fill('D-20944');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Batches with rows of this case' }).waitFor();
    },
  },
  {
    name: 'case-long',
    scene: 'case-long',
    steps: async (page) => {
      await page.getByRole('button', { name: /^Complaint/ }).click();
      await page.getByText('Revealed').first().waitFor();
      await page.getByRole('textbox', { name: 'Token' }).focus();
      await page.keyboard.press('ArrowUp');
      await page.getByRole('region', { name: 'Result' }).waitFor();
    },
  },
  {
    name: 'case-closed',
    scene: 'case',
    steps: async (page) => {
      await page.getByRole('button', { name: /^D-20931/ }).click();
      await page.getByRole('button', { name: 'Close case' }).click();
      await page.getByRole('button', { name: 'Save signed evidence' }).click();
      await page.getByText(/^Saved/).waitFor();
    },
  },
  {
    name: 'palette',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'palette-card',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Activity');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search or run' }).fill('4111 1111 1111 1111');
      await page.getByRole('option', { name: /Tokenize/ }).waitFor();
    },
  },
  {
    name: 'palette-token',
    scene: 'production',
    steps: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search or run' }).fill('qwz1n@example.org');
      await page.getByRole('option', { name: /Look up/ }).waitFor();
    },
  },
  {
    name: 'lookup-failed',
    scene: 'refused',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'lookup-down',
    scene: 'down',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'lookup-tried-again',
    scene: 'offline',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page
        .getByText(/^Tried again at/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Try now' }).click();
      await page
        .getByText(/^Tried again at/)
        .nth(1)
        .waitFor();
    },
  },
  { name: 'lookup-little-left', scene: 'little-left' },
  { name: 'upgraded', scene: 'upgraded' },
  {
    name: 'whats-new',
    scene: 'upgraded',
    steps: async (page) => {
      await page.getByRole('button', { name: 'What’s new' }).click();
      await page.getByRole('complementary', { name: 'Guide' }).waitFor();
    },
  },
  { name: 'single-keys-off', scene: 'single-keys-off', steps: lookUp },
  {
    name: 'help',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('Control+/');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'lookup-again',
    scene: 'production',
    steps: async (page) => {
      await tryAgain(page, 'Detokenize');
      await page.getByText(/^Retrying Reveal/).waitFor();
    },
  },
  {
    name: 'reports-account',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('option').first().click();
    },
  },
  {
    name: 'reports-by-definition',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByText('Definition', { exact: true }).first().click();
      await page.getByRole('region', { name: 'Requests by definition', exact: true }).waitFor();
    },
  },
  {
    name: 'reports-all',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByText('By day and definition').click();
      await page.getByRole('region', { name: 'Requests by definition and day' }).waitFor();
    },
  },
  {
    name: 'reports-40-definitions',
    scene: 'many-definitions',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Last 365 days' }).click();
      await page.getByText('Definition', { exact: true }).first().click();
      await page.getByRole('region', { name: 'Requests by definition', exact: true }).waitFor();
    },
  },
  {
    name: 'reports-40-all',
    scene: 'many-definitions',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Last 365 days' }).click();
      await page.getByText('By day and definition', { exact: true }).first().click();
      await page.getByRole('region', { name: 'Requests by definition and day' }).waitFor();
    },
  },
  ...(['twelve', 'one'] as const).flatMap((count): Shot[] => [
    {
      name: `reports-${count}-definitions`,
      scene: count === 'one' ? 'one-definition' : 'twelve-definitions',
      steps: async (page) => {
        await go(page, 'Reports');
        await page.getByText('Definition', { exact: true }).first().click();
        await page.getByRole('region', { name: 'Requests by definition', exact: true }).waitFor();
      },
    },
    {
      name: `reports-${count}-all`,
      scene: count === 'one' ? 'one-definition' : 'twelve-definitions',
      steps: async (page) => {
        await go(page, 'Reports');
        await page.getByText('By day and definition', { exact: true }).first().click();
        await page.getByRole('region', { name: 'Requests by definition and day' }).waitFor();
      },
    },
  ]),
  {
    name: 'reports-40-one-day',
    scene: 'many-definitions',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Today', exact: true }).click();
      await page.getByText('By day and definition', { exact: true }).first().click();
      await page.getByRole('region', { name: 'Requests by definition and day' }).waitFor();
    },
  },
  {
    name: 'reports-year',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Last 365 days' }).click();
      await page.getByText('Day', { exact: true }).first().click();
      await page.getByRole('slider', { name: 'Requests by day' }).waitFor();
    },
  },
  {
    name: 'reports-one-day',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Today', exact: true }).click();
      await page.getByRole('button', { name: /^Dates: Today/ }).waitFor();
    },
  },
  {
    name: 'reports-dates',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('dialog', { name: 'Dates' }).waitFor();
    },
  },
  {
    name: 'reports-access',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('tab', { name: 'Cleartext access' }).click();
      await page.getByText(/people saw cleartext/).waitFor();
    },
  },
  {
    name: 'reports-part',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByText('Operation', { exact: true }).first().click();
      await page.getByRole('button', { name: /^Detokenize: .* show failures/ }).click();
      await page.getByText('Failures of Detokenize').waitFor();
    },
  },
  {
    name: 'reports-day-picked',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates:/ }).click();
      await page.getByRole('button', { name: 'Choose First day' }).click();
      await page.getByRole('button', { name: 'Previous', exact: true }).click();
    },
  },
  {
    name: 'guide',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.keyboard.press('F1');
      await page.getByRole('complementary', { name: 'Guide' }).waitFor();
    },
  },
  {
    name: 'guide-messages',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('F1');
      await page.getByRole('combobox', { name: 'Chapter' }).selectOption('All messages');
    },
  },
  {
    name: 'guide-word',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'What is this: Service profile' }).click();
      await page.getByRole('heading', { name: 'Service profile', level: 3 }).last().waitFor();
    },
  },
  {
    name: 'guide-learn-more',
    scene: 'refused',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Token' }).fill('4111117309211111');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Learn more' }).click();
      await page.getByRole('complementary', { name: 'Guide' }).waitFor();
    },
  },
  {
    name: 'guide-administrator',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('F1');
      await page.getByRole('combobox', { name: 'Chapter' }).selectOption('Removing it, and everything of it');
    },
  },
  {
    name: 'guide-search',
    scene: 'busy',
    steps: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.insertText('encoding');
      await page
        .getByRole('option', { name: /^Guide/ })
        .first()
        .waitFor();
    },
  },
  {
    name: 'reports-last-month',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('button', { name: /^Dates/ }).click();
      await page.getByRole('button', { name: 'Last month' }).click();
      await page.getByText(/reasons for these days can’t be told/).waitFor();
    },
  },
  {
    name: 'reports-workstation',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('tab', { name: 'This workstation' }).click();
      await page.getByRole('button', { name: 'Evidence on D-20931' }).click();
      await page.getByText('Send the fingerprint').waitFor();
    },
  },
  {
    name: 'reports-tools',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('tab', { name: 'Tool server' }).click();
      await page.getByText('RotateKey').waitFor();
    },
  },
  {
    name: 'reports-signed-out',
    scene: 'signed-out',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('textbox', { name: 'Portal user' }).fill('maria.k');
      await page.getByLabel('Portal password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'reports-empty',
    scene: 'nothing-reported',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByText('No requests in these days').waitFor();
    },
  },
  {
    name: 'reports-failed',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('alert').first().waitFor();
    },
  },
  {
    name: 'reports-tools-off',
    scene: 'nothing-reported',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('tab', { name: 'Tool server' }).click();
      await page.getByText('Not enabled').waitFor();
    },
  },
  { name: 'activity', scene: 'busy', steps: (page) => go(page, 'Activity') },
  {
    name: 'activity-requests',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Activity');
      await page.getByText('Requests', { exact: true }).first().click();
    },
  },
  {
    name: 'activity-nothing',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Activity');
      await page.getByRole('textbox', { name: 'Search the log' }).fill('nothing like it');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /clear/i }).first().waitFor();
    },
  },
  {
    name: 'activity-failed',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Activity');
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'connections', scene: 'busy', steps: (page) => go(page, 'Connections') },
  {
    name: 'connections-own',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Run test' }).click();
      await page.getByText('Tested 2 policies').waitFor();
    },
  },
  {
    name: 'connections-access',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Access', exact: true }).click();
      await page.getByLabel('Password for dispute-desk').fill('not a password');
    },
  },
  { name: 'connections-service', scene: 'production', steps: (page) => go(page, 'Connections') },
  {
    name: 'connections-unread',
    scene: 'unread',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page.getByText('doesn’t fit the answer').first().waitFor();
    },
  },
  {
    name: 'connections-large-test',
    scene: 'many-policies',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Run test' }).click();
      await page.getByRole('region', { name: 'Large test' }).waitFor();
    },
  },
  {
    name: 'connections-fitting',
    scene: 'fitting',
    steps: async (page) => {
      await go(page, 'Connections');
      await choose(page, 'Which is the token?', 'rows[].surrogate');
      await choose(page, 'Which is the RefId?', 'rows[].id');
    },
  },
  {
    name: 'connections-date',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Access', exact: true }).click();
      await page.getByRole('button', { name: 'Replace without testing…' }).click();
      await page.getByRole('button', { name: 'Choose The API key expires on' }).click();
    },
  },
  {
    name: 'connections-rotate',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Access', exact: true }).click();
      await page.getByRole('button', { name: 'Rotate…' }).click();
      await page.getByRole('region', { name: 'Key rotation' }).waitFor();
    },
  },
  {
    name: 'connections-replace',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Access', exact: true }).click();
      await page.getByRole('button', { name: 'Replace without testing…' }).click();
    },
  },
  {
    name: 'connections-new-access',
    scene: 'first-run',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Add a connection' }).click();
      await page.getByRole('button', { name: 'Next: Access' }).click();
    },
  },
  {
    name: 'connections-invalid',
    scene: 'first-run',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Add a connection' }).click();
      await page.getByLabel('Transfers per day').fill('ten');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Enter a name.').waitFor();
    },
  },
  {
    name: 'connections-new',
    scene: 'first-run',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Add a connection' }).click();
      await page.getByLabel('Base URL').waitFor();
    },
  },
  {
    name: 'connections-failed',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'settings', scene: 'busy', steps: (page) => go(page, 'Settings') },
  {
    name: 'settings-failed',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByText('Dark', { exact: true }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'managed-settings', scene: 'managed', steps: (page) => go(page, 'Settings') },
  {
    name: 'managed-list',
    scene: 'managed',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('region', { name: 'Managed by your administrator' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'second-person-needed',
    scene: 'second-person',
    steps: async (page) => {
      await page.getByRole('button', { name: 'At this desk…' }).click();
      await page.getByLabel('Their passphrase').waitFor();
    },
  },
  { name: 'second-person-approved', scene: 'second-person-approved' },
  {
    name: 'second-person-request',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('button', { name: 'Open a request or an answer…' }).click();
      await page.getByRole('button', { name: 'Compare with my file…' }).click();
      await page.getByText(/is the file that is asked for/).waitFor();
    },
  },
  {
    name: 'second-person-settings',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('heading', { name: 'Second people at this desk' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'connections-file',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('button', { name: 'Import…' }).click();
      await page.getByRole('region', { name: /would change/ }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'remove-everything',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('button', { name: 'Remove everything…' }).click();
      await page.getByRole('button', { name: 'Close and remove everything' }).click();
      await page.getByRole('alert').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'settings-end',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Settings');
      await page.getByRole('heading', { name: /^About/ }).scrollIntoViewIfNeeded();
    },
  },
  { name: 'passphrase-missing', scene: 'passphrase-missing' },
  { name: 'long-lookup', scene: 'long-names', steps: lookUp },
  {
    name: 'long-reports',
    scene: 'long-names',
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByText('Definition', { exact: true }).first().click();
      await page.getByRole('region', { name: 'Requests by definition', exact: true }).waitFor();
    },
  },
  {
    name: 'long-connections',
    scene: 'long-names',
    steps: async (page) => {
      await go(page, 'Connections');
      await page.getByRole('button', { name: 'Run test' }).click();
      await page.getByText(/^Tested/).waitFor();
    },
  },
  ...(['de-DE', 'ar-EG'] as const).flatMap((locale): Shot[] => [
    {
      name: `locale-${locale}-reports`,
      scene: 'busy',
      look: { locale },
      steps: async (page) => {
        await go(page, 'Reports');
        await page.getByRole('slider', { name: 'Requests by day' }).waitFor();
      },
    },
    {
      name: `locale-${locale}-date`,
      scene: 'production',
      look: { locale },
      steps: async (page) => {
        await go(page, 'Connections');
        await page.getByRole('button', { name: 'Access', exact: true }).click();
        await page.getByRole('button', { name: 'Replace without testing…' }).click();
        await page.getByRole('button', { name: 'Choose The API key expires on' }).click();
      },
    },
    { name: `locale-${locale}-lookup`, scene: 'busy', look: { locale }, steps: lookUp },
    {
      name: `locale-${locale}-activity`,
      scene: 'busy',
      look: { locale },
      steps: (page) => go(page, 'Activity'),
    },
    {
      name: `locale-${locale}-access`,
      scene: 'busy',
      look: { locale },
      steps: async (page) => {
        await go(page, 'Reports');
        await page.getByRole('tab', { name: 'Cleartext access' }).click();
        await page.getByText(/people saw cleartext/).waitFor();
      },
    },
  ]),
  {
    name: 'forced-revealed',
    scene: 'production',
    look: { forcedColors: true },
    steps: async (page) => {
      await lookUp(page);
      await page.getByRole('button', { name: 'Reveal', exact: true }).click();
      await page.getByRole('button', { name: 'Chargeback response' }).click();
      await page.getByRole('group', { name: 'In clear' }).waitFor();
    },
  },
  {
    name: 'forced-reports',
    scene: 'busy',
    look: { forcedColors: true },
    steps: async (page) => {
      await go(page, 'Reports');
      await page.getByRole('slider', { name: 'Requests by day' }).waitFor();
    },
  },
  {
    name: 'forced-connections',
    scene: 'production',
    look: { forcedColors: true },
    steps: (page) => go(page, 'Connections'),
  },
  {
    name: 'forced-case',
    scene: 'case',
    look: { forcedColors: true },
    steps: async (page) => {
      await page.getByRole('button', { name: /^D-20931/ }).click();
      await page.getByText('Revealed').first().waitFor();
    },
  },
  {
    name: 'forced-administration',
    scene: 'administration-production',
    look: { forcedColors: true },
    steps: administer,
  },
  {
    name: 'forced-activity',
    scene: 'production',
    look: { forcedColors: true },
    steps: (page) => go(page, 'Activity'),
  },
  { name: 'locked', scene: 'locked' },
  { name: 'locked-waiting', scene: 'locked-waiting' },
  { name: 'administration-signed-out', scene: 'administration-signed-out', steps: administer },
  { name: 'administration-none', scene: 'administration-none', steps: administer },
  { name: 'administration-definitions', scene: 'administration', steps: administer },
  {
    name: 'administration-definition-form',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('button', { name: 'New definition' }).click();
      await page.getByLabel('Name in API calls').fill('gift-card');
      await page.getByText('4111 11** **** 1111').waitFor();
    },
  },
  {
    name: 'administration-definition-failed',
    scene: 'administration-failed',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('button', { name: 'New definition' }).click();
      await page.getByLabel('Name in API calls').fill('gift-card');
      await page.getByRole('alert').first().waitFor();
      await page.getByRole('button', { name: 'Create definition' }).click();
      await page.getByText('definition.name is invalid').waitFor();
    },
  },
  {
    name: 'administration-policies',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'Security policies' }).click();
      await page.getByRole('button', { name: 'Revoke mask-only' }).click();
    },
  },
  {
    name: 'administration-policy-form',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'Security policies' }).click();
      await page.getByRole('button', { name: 'New policy' }).click();
      await page.getByLabel('Policy name').fill('refunds');
      await page.getByLabel('Mask on Card number').check();
    },
  },
  {
    name: 'administration-policy-many',
    scene: 'administration-many',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'Security policies' }).click();
      await page.getByRole('button', { name: 'New policy' }).click();
    },
  },
  { name: 'administration-many', scene: 'administration-many', steps: administer },
  {
    name: 'administration-keys',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'API keys' }).click();
    },
  },
  {
    name: 'administration-key-made',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'API keys' }).click();
      await page.getByRole('button', { name: 'New API key' }).click();
      await page.getByLabel('Title').fill('Schlüssel für die Nacht');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Copy key' }).waitFor();
    },
  },
  {
    name: 'administration-keys-many',
    scene: 'administration-many',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'API keys' }).click();
    },
  },
  {
    name: 'administration-tools',
    scene: 'administration',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('tab', { name: 'Tool server' }).click();
    },
  },
  { name: 'events', scene: 'events', steps: lookUp },
  { name: 'events-connection', scene: 'events', steps: (page) => go(page, 'Connections') },
  { name: 'administration-production', scene: 'administration-production', steps: administer },
  {
    name: 'administration-refused',
    scene: 'administration-refused',
    steps: async (page) => {
      await administer(page);
      await page.getByRole('alert').waitFor();
    },
  },
];
