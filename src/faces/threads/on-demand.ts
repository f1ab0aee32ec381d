import { lazy } from '../../core/lazy.ts'

export const endpoints = /* @__PURE__ */ lazy(() => import('./endpoints.ts'))
