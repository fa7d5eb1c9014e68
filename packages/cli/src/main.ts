#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Types are stripped once, not at every start: a command begins in half the time. Without a place to keep it, it does
// nothing.
enableCompileCache();
await import('./run.ts');
