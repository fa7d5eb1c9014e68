import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './router.tsx';
import './style.css';
import { isPassing, onFault, retryDelay } from './waybill.ts';

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onFault }),
  mutationCache: new MutationCache({ onError: onFault }),
  defaultOptions: {
    // What the browser thinks of its network says nothing of the way to Waybill, which may be on this machine.
    queries: { retry: isPassing, retryDelay, staleTime: 2_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

const place = document.getElementById('console');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
