import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { router } from './router.tsx';
import './style.css';
import { isPassing, onFault } from './waybill.ts';

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onFault }),
  mutationCache: new MutationCache({ onError: onFault }),
  defaultOptions: { queries: { retry: isPassing, staleTime: 2_000 } },
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
