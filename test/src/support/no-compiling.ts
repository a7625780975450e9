import { z } from 'zod';

// Imported before any schema is made: zod asks then whether it may compile, and under the product's content security
// policy asking is already a violation.
z.config({ jitless: true });
