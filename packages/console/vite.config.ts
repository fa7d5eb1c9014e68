import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    // The scheduler serves what is below this path for good: names hold a hash of the contents.
    assetsDir: 'console',
    // Nothing inline: the policy of the page allows only files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_200,
  },
  server: {
    // `pnpm --filter @waybill/console dev`, beside a stack: WAYBILL_URL says where its scheduler is.
    proxy: {
      '/v1': process.env.WAYBILL_URL ?? 'http://127.0.0.1:8080',
      '/openapi.json': process.env.WAYBILL_URL ?? 'http://127.0.0.1:8080',
    },
  },
});
