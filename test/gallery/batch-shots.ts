import type { Page } from '@playwright/test';
import { choose, go, openFinished, openJob, tryAgain, type Shot } from './page-steps.ts';

const draft = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await choose(page, 'card_token: Keep', 'Detokenize');
  await page.getByText('500,000 rows').waitFor();
};

const draftWith = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Choose a file' }).click();
};

const listOfBatches = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByText('Batches on this computer').waitFor();
};

const openQueue = async (page: Page): Promise<void> => {
  await go(page, 'Batch');
  await page.getByRole('button', { name: /^Open disputes-01.csv and/ }).click();
  await page.getByRole('region', { name: 'Files', exact: true }).waitFor();
};

export const batchShots: Shot[] = [
  {
    name: 'queue-draft',
    scene: 'queue-draft',
    steps: async (page) => {
      await draft(page);
      await page.getByText('3 files of one kind').waitFor();
    },
  },
  { name: 'queue-list', scene: 'queue-running', steps: listOfBatches },
  { name: 'queue-running', scene: 'queue-running', steps: openQueue },
  { name: 'queue-asking', scene: 'queue-asking', steps: openQueue },
  { name: 'queue-finished', scene: 'queue-finished', steps: openQueue },
  {
    name: 'queue-finished-end',
    scene: 'queue-finished',
    steps: async (page) => {
      await openQueue(page);
      await page.getByRole('heading', { name: 'Not run with them' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'queue-export',
    scene: 'queue-finished',
    steps: async (page) => {
      await openQueue(page);
      await page.keyboard.press('Control+e');
      await page.getByText('With cleartext', { exact: true }).click();
      await page.getByText(/^The files will hold cleartext/).waitFor();
    },
  },
  {
    name: 'queue-exported',
    scene: 'queue-finished',
    steps: async (page) => {
      await openQueue(page);
      await page.keyboard.press('Control+e');
      await page
        .getByRole('region', { name: 'Export' })
        .getByRole('button', { name: /^Export/ })
        .click();
      await page.getByRole('status', { name: 'Exported' }).waitFor();
    },
  },
  { name: 'brake-paused', scene: 'braked', steps: (page) => openJob(page, 'braked.csv') },
  {
    name: 'brake-change',
    scene: 'braked',
    steps: async (page) => {
      await openJob(page, 'braked.csv');
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.waitForTimeout(200);
    },
  },
  { name: 'brake-first-values', scene: 'braked', steps: (page) => openJob(page, 'canary.csv') },
  { name: 'brake-going', scene: 'braked', steps: (page) => openJob(page, 'going.csv') },
  { name: 'brake-not-granted', scene: 'braked', steps: (page) => openJob(page, 'not-granted.csv') },
  { name: 'brake-list', scene: 'braked', steps: listOfBatches },
  { name: 'batch-landing', scene: 'empty', steps: (page) => go(page, 'Batch') },
  {
    name: 'batch-landing-jobs',
    scene: 'production',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Discard refunds-october.csv' }).click();
    },
  },
  { name: 'batch-workbook', scene: 'workbook', steps: (page) => draft(page) },
  {
    name: 'batch-workbook-sheets',
    scene: 'workbook',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('combobox', { name: 'Sheet' }).click();
      await page.getByRole('option', { name: /^Archive/ }).waitFor();
    },
  },
  {
    name: 'batch-known-notes',
    scene: 'known-notes',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: /^As accepted with/ }).click();
    },
  },
  {
    name: 'batch-exporting',
    scene: 'exporting',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export \d/ }).click();
      await page.getByRole('group', { name: 'Export under way' }).waitFor();
    },
  },
  {
    name: 'batch-opening',
    scene: 'opening',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Choose a file' }).click();
      await page.getByRole('progressbar').waitFor();
    },
  },
  {
    name: 'batch-not-a-table',
    scene: 'not-a-table',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Choose a file' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'batch-guesses', scene: 'guesses', steps: (page) => draft(page) },
  { name: 'batch-place', scene: 'place', steps: (page) => draft(page) },
  {
    name: 'batch-place-menu',
    scene: 'place',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: 'Row 3: where the table is' }).click();
    },
  },
  {
    name: 'batch-records',
    scene: 'records',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('region', { name: 'Layout of a record' }).waitFor();
    },
  },
  {
    name: 'batch-records-copybook',
    scene: 'records',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: 'COBOL copybook' }).click();
      await page.getByRole('textbox', { name: /copybook/ }).fill('       05  CARD-NO   PIC X(19).');
    },
  },
  {
    name: 'batch-records-rows',
    scene: 'records',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: 'Layout', exact: true }).click();
      await choose(page, 'Account number: Keep', 'Tokenize value to token');
    },
  },
  {
    name: 'batch-guesses-encodings',
    scene: 'guesses',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('combobox', { name: 'Another encoding' }).click();
      await page.getByRole('option', { name: 'Shift_JIS' }).hover();
    },
  },
  { name: 'batch-draft', scene: 'production', steps: (page) => draft(page) },
  {
    name: 'batch-draft-match',
    scene: 'busy',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'ssn_token: Keep', 'Translate');
      await choose(page, 'card_token: Detokenize', 'Match pattern');
      await page.getByRole('textbox', { name: 'BIN' }).fill('411111');
      await page.getByRole('textbox', { name: 'Length' }).fill('16');
      await page.getByLabel('Test a value (invented)').fill('4111110000001234');
    },
  },
  {
    name: 'batch-draft-three',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'ssn_token: Keep', 'Translate');
      await choose(page, 'customer_name: Keep', 'Match pattern');
      await choose(page, 'Match by', 'Regular expression');
      await page.getByRole('textbox', { name: 'Expression' }).fill('^(?=A)');
      await page.getByText('Lookaround').waitFor();
    },
  },
  {
    name: 'batch-draft-move',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'card_token: Detokenize', 'Translate');
      await page.getByRole('combobox', { name: /^At connection/ }).click();
      await page.getByRole('option').nth(1).click();
    },
  },
  {
    name: 'batch-draft-inside',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'customer_name: Keep', 'Inside texts: tokenize');
      await page.getByRole('textbox', { name: 'Mark behind' }).fill(':');
      await page.getByText('A mark is one to eight signs').waitFor();
    },
  },
  {
    name: 'batch-draft-case',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'Case:', 'case_id');
      await page.getByText('A row without a case is not sent.').waitFor();
    },
  },
  {
    name: 'batch-mapping-suggested',
    scene: 'mappings',
    steps: async (page) => {
      await draftWith(page);
      await page.getByText('is filled in').waitFor();
    },
  },
  {
    name: 'batch-mapping-removed',
    scene: 'mappings',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: /^Remove the mapping/ }).click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
    },
  },
  { name: 'batch-jobs-eight', scene: 'eight', steps: listOfBatches },
  {
    name: 'batch-waiting',
    scene: 'eight',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: /^Open chargebacks/ }).click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'batch-matched',
    scene: 'matched',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await choose(page, 'Rows: All rows', 'Matches only');
    },
  },
  {
    name: 'batch-preset',
    scene: 'production',
    steps: async (page) => {
      await tryAgain(page, 'BatchDetokenize');
      await page.getByText('From the failed request').waitFor();
    },
  },
  {
    name: 'batch-preset-file',
    scene: 'production',
    steps: async (page) => {
      await tryAgain(page, 'BatchDetokenize');
      await page.getByRole('button', { name: 'Choose a file' }).click();
      await page.getByText('Filled in from the failed request').waitFor();
    },
  },
  {
    name: 'batch-trial',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: 'Test 20 rows' }).click();
      await page.getByText('Nothing was saved').waitFor();
    },
  },
  {
    name: 'batch-noticed',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: 'Show rows' }).first().click();
      await page.getByRole('button', { name: 'Back to preview' }).waitFor();
    },
  },
  {
    name: 'batch-head-menu',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('combobox', { name: 'ssn_token: Keep' }).click();
      await page.getByRole('listbox').waitFor();
    },
  },
  {
    name: 'batch-draft-failed',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Choose a file' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'batch-running',
    scene: 'busy',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Open disputes-q3.csv' }).click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'batch-all-failed',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'wrong-column.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'batch-offline',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'offline.csv');
      await page.getByText('Offline. Next try').waitFor();
    },
  },
  {
    name: 'batch-wide',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'wide-200.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('textbox', { name: 'Find a column' }).fill('_12');
      await page.getByRole('button', { name: 'attribute_with_a_long_name_120' }).click();
    },
  },
  {
    name: 'batch-filtered',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('textbox', { name: 'Filter customer_name' }).fill('Ada');
      await page.getByRole('columnheader', { name: 'amount' }).click();
      await page.getByText('shown.').waitFor();
    },
  },
  {
    name: 'batch-detail',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('grid').focus();
      for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.getByRole('complementary', { name: 'Row detail' }).waitFor();
    },
  },
  {
    name: 'batch-profile',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('columnheader', { name: 'card_token' }).click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Profile' }).click();
      await page.getByText('Distinct').waitFor();
    },
  },
  {
    name: 'batch-looking',
    scene: 'looking',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('columnheader', { name: 'card_token' }).click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Profile' }).click();
      await page.getByText('Stopped before the end').waitFor();
      await page.getByRole('textbox', { name: 'Find' }).fill('4111');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    },
  },
  {
    name: 'batch-cell-menu',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20003' }).click({ button: 'right' });
      await page.getByRole('menu').waitFor();
    },
  },
  { name: 'batch-finished', scene: 'finished', steps: (page) => openFinished(page) },
  {
    name: 'batch-exposed',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('textbox', { name: 'Case' }).fill('D-20931');
      await page.getByText('Chargeback response').click();
      await page.getByRole('group', { name: 'In clear' }).waitFor();
    },
  },
  {
    name: 'batch-export',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByText('With cleartext', { exact: true }).click();
      await page.getByText('Encrypt with a passphrase').click();
    },
  },
  {
    name: 'batch-export-remaining',
    scene: 'remaining',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('status', { name: 'Remaining cleartext' }).waitFor();
    },
  },
  {
    name: 'batch-export-remaining-reason',
    scene: 'remaining-reason',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByText('Your administrator wants a reason').waitFor();
    },
  },
  {
    name: 'batch-export-cells-lost',
    scene: 'cells-lost',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export [0-9]/ }).click();
      await page.getByRole('checkbox', { name: 'Leave these cells out' }).waitFor();
    },
  },
  {
    name: 'batch-export-source-changed',
    scene: 'source-changed',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export [0-9]/ }).click();
      await page.getByRole('checkbox', { name: /^Results alone/ }).waitFor();
    },
  },
  {
    name: 'batch-tokens-again',
    scene: 'tokens-again',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: /^Run on/ }).click();
      await page.getByRole('checkbox', { name: 'Tokenize these tokens once more' }).waitFor();
    },
  },
  {
    name: 'batch-exported-cells-lost',
    scene: 'cells-lost',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export [0-9]/ }).click();
      await page.getByRole('checkbox', { name: 'Leave these cells out' }).click();
      await page.getByRole('button', { name: /^Export [0-9]/ }).click();
      await page.getByRole('status', { name: 'Exported' }).waitFor();
    },
  },
  {
    name: 'batch-exported-remaining',
    scene: 'remaining',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export [0-9]/ }).click();
      await page.getByRole('status', { name: 'Exported' }).waitFor();
    },
  },
  {
    name: 'batch-export-format',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: 'Format…' }).click();
      await page.getByText('Safe for Excel', { exact: true }).click();
    },
  },
  {
    name: 'batch-export-encodings',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: 'Format…' }).click();
      await page.getByText('Exact values', { exact: true }).click();
      await choose(page, 'Encoding: UTF-8', 'ISO-8859-15 (with €)');
      await page.getByRole('combobox', { name: /^Encoding/ }).click();
      await page.getByRole('listbox').waitFor();
    },
  },
  {
    name: 'batch-comparison',
    scene: 'corrected',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Add corrected rows…' }).click();
      await page.getByRole('status', { name: 'Differences' }).waitFor();
    },
  },
  {
    name: 'batch-corrected',
    scene: 'corrected',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Add corrected rows…' }).click();
      await page.getByRole('button', { name: 'Take in 31 cells and send' }).click();
      await page.getByRole('status', { name: 'Corrected rows' }).getByText('left out').waitFor();
    },
  },
  {
    name: 'batch-cancelled',
    scene: 'eight',
    steps: async (page) => {
      await openJob(page, 'kyc.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  { name: 'batch-jobs-forty', scene: 'forty', steps: listOfBatches },
  {
    name: 'batch-exported',
    scene: 'table',
    steps: async (page) => {
      await openJob(page, 'disputes-q3.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('textbox', { name: 'Filter customer_name' }).fill('Ada');
      await page.getByText('shown.').waitFor();
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export \d/ }).click();
      await page.getByRole('button', { name: 'Show in folder' }).waitFor();
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export \d/ }).waitFor();
    },
  },
  {
    name: 'batch-million',
    scene: 'finished',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Open cards-2026.csv' }).click();
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+End');
      await page.getByRole('rowheader', { name: '1,000,000' }).waitFor();
    },
  },
  {
    name: 'batch-paused',
    scene: 'down',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Open disputes-q3.csv' }).click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'draft-mask',
    scene: 'production',
    steps: async (page) => {
      await draftWith(page);
      for (const column of ['card_token', 'ssn_token']) {
        await page.getByRole('combobox', { name: `${column}: Keep` }).click();
        await page.getByRole('option', { name: /^Mask/ }).click();
      }
      await page.getByText('500,000 rows').waitFor();
    },
  },
  {
    name: 'batch-paste',
    scene: 'empty',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Paste lines' }).click();
      await page.getByText('to paste one value per line').waitFor();
    },
  },
  {
    name: 'batch-notices',
    scene: 'notices',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('list', { name: 'Notices' }).waitFor();
    },
  },
  {
    name: 'batch-notices-end',
    scene: 'notices',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: /^\d+ notes/ }).click();
      await page.getByText('looks like a token already').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'batch-suggestions',
    scene: 'cleartext',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: /^Use \d suggestions/ }).waitFor();
    },
  },
  {
    name: 'batch-suggestions-used',
    scene: 'cleartext',
    steps: async (page) => {
      await draftWith(page);
      await page.getByRole('button', { name: /^Use \d suggestions/ }).click();
      await page.getByText('500,000 rows').waitFor();
    },
  },
  {
    name: 'batch-trial-beside',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await choose(page, 'ssn_token: Keep', 'Detokenize');
      await page.getByRole('combobox', { name: 'Result: Replace column' }).first().click();
      await page.getByRole('option', { name: 'Add column' }).click();
      await page.getByRole('button', { name: 'Test 20 rows' }).click();
      await page.getByText('Nothing was saved').waitFor();
    },
  },
  {
    name: 'batch-trial-failed',
    scene: 'nothing-granted',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: 'Test 20 rows' }).click();
      await page.getByText('Nothing was saved').waitFor();
    },
  },
  {
    name: 'batch-reason',
    scene: 'asks-reason',
    steps: async (page) => {
      await draftWith(page);
      await choose(page, 'card_token: Keep', 'Match pattern');
      await choose(page, 'Match by', 'Regular expression');
      await page.getByRole('textbox', { name: 'Expression' }).fill('^4[0-9]{6}1');
      await page.getByText('500,000 rows').waitFor();
      await page.getByRole('button', { name: 'Run on PRODUCTION' }).click();
      await page.getByRole('textbox', { name: 'Type 500,000 to confirm' }).waitFor();
    },
  },
  {
    name: 'batch-mapping-elsewhere',
    scene: 'mapping-elsewhere',
    steps: async (page) => {
      await draftWith(page);
      await page.getByText('is not filled in by itself').waitFor();
    },
  },
  {
    name: 'batch-mapping-save',
    scene: 'production',
    steps: async (page) => {
      await draft(page);
      await page.getByRole('button', { name: 'Save mapping' }).click();
    },
  },
  ...(
    [
      ['limited', 'Rate limit reached'],
      ['quota', 'quota is used up'],
      ['paused', 'Resume at row'],
      ['begun', 'Rows appear here'],
      ['stopped', 'Stopped'],
      ['cancelled', 'not sent'],
      ['beside', '1,000,000 succeeded'],
    ] as const
  ).map(([name, text]): Shot => ({
    name: `batch-run-${name}`,
    scene: 'waiting',
    steps: async (page) => {
      await openJob(page, `${name}.csv`);
      await page.getByText(text).first().waitFor();
    },
  })),
  {
    name: 'batch-run-interrupted',
    scene: 'waiting',
    steps: async (page) => {
      await openJob(page, 'refunds-october.csv');
      await page.getByText('Resume at row').waitFor();
    },
  },
  {
    name: 'batch-malformed',
    scene: 'malformed',
    steps: async (page) => {
      await openJob(page, 'malformed.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  {
    name: 'batch-malformed-detail',
    scene: 'malformed',
    steps: async (page) => {
      await openJob(page, 'malformed.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('grid').focus();
      for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.getByText('one field too many').last().waitFor();
    },
  },
  {
    name: 'batch-refused-detail',
    scene: 'malformed',
    steps: async (page) => {
      await openJob(page, 'malformed.csv');
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('grid').focus();
      for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Space');
      await page.getByText('The service says').waitFor();
    },
  },
  {
    name: 'batch-long',
    scene: 'long-batch',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: /^Open chargebacks/ }).click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    },
  },
  { name: 'batch-long-list', scene: 'long-batch', steps: listOfBatches },
  {
    name: 'batch-found',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('textbox', { name: 'Find' }).fill('Ada');
      await page.keyboard.press('Enter');
      await page.getByText('with “Ada”').waitFor();
    },
  },
  {
    name: 'batch-not-found',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('textbox', { name: 'Find' }).fill('nowhere');
      await page.keyboard.press('Enter');
      await page.getByText('is in none of these rows').waitFor();
    },
  },
  {
    name: 'batch-column-menu',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('columnheader', { name: 'customer_name' }).click({ button: 'right' });
      await page.getByRole('menu').waitFor();
    },
  },
  {
    name: 'batch-columns-hidden',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      for (const column of ['currency', 'amount']) {
        await page.getByRole('columnheader', { name: column }).click({ button: 'right' });
        await page.getByRole('menuitem', { name: 'Hide column' }).click();
      }
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('textbox', { name: 'Find a column' }).waitFor();
    },
  },
  {
    name: 'batch-filter-menu',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('button', { name: 'Filter card_token by' }).click();
      await page.getByRole('menu').waitFor();
    },
  },
  {
    name: 'batch-failed-only',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Show rows' }).nth(1).click();
      await page.getByText('shown.').waitFor();
    },
  },
  {
    name: 'batch-copied',
    scene: 'table',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('grid').focus();
      await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('Control+c');
      await page.getByText('Copied 2 rows').waitFor();
    },
  },
  {
    name: 'batch-reveal-panel',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('grid').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Reveal' }).waitFor();
    },
  },
  ...(['As the source', 'Exact values', 'Excel workbook'] as const).map((form): Shot => ({
    name: `batch-export-${form.split(' ').at(-1)?.toLowerCase() ?? ''}`,
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: 'Format…' }).click();
      await page.getByText(form, { exact: true }).last().click();
    },
  })),
  {
    name: 'batch-export-too-many',
    scene: 'long-batch',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: /^Open chargebacks/ }).click();
      await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: 'Format…' }).click();
      await page.getByText('Excel workbook', { exact: true }).last().click();
      await page.getByText('A sheet holds').waitFor();
    },
  },
  {
    name: 'batch-jobs-searched',
    scene: 'forty',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('textbox', { name: 'Find a batch' }).fill('cancelled');
    },
  },
  {
    name: 'batch-jobs-not-found',
    scene: 'forty',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('textbox', { name: 'Find a batch' }).fill('no such batch');
      await page.getByText('No batch matches').waitFor();
    },
  },
  {
    name: 'batch-jobs-end',
    scene: 'forty',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Open settlement-40.csv' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'batch-jobs-damaged',
    scene: 'eight',
    steps: async (page) => {
      await go(page, 'Batch');
      await page.getByRole('button', { name: 'Discard the batch that can’t be read' }).click();
      await page.getByRole('button', { name: 'Discard it' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'batch-saved',
    scene: 'finished',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export \d/ }).click();
      await page.getByRole('button', { name: 'Show in folder' }).waitFor();
    },
  },
  {
    name: 'batch-export-failed',
    scene: 'disk-full',
    steps: async (page) => {
      await openFinished(page);
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: /^Export \d/ }).click();
      await page.getByRole('alert').waitFor();
    },
  },
];
