import { lazy } from '../../lazy.ts'

export const schemas = /* @__PURE__ */ lazy(() => import('./wire.ts'))
