import { z } from 'zod';

// Imported before any schema is made: zod then tests whether it may compile code, and under the product's content
// security policy that test is already a violation.
z.config({ jitless: true });
