import { lazy } from '../../../core/lazy.ts'

export const schemas = /* @__PURE__ */ lazy(() => import('./wire.ts'))
