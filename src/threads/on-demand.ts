import { lazily } from '../face/parse.ts'

export const endpoints = /* @__PURE__ */ lazily(() => import('./endpoints.ts'))
