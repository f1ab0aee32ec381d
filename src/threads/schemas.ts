import { lazily } from '../face/parse.ts'

export const schemas = /* @__PURE__ */ lazily(() => import('./wire.ts'))
