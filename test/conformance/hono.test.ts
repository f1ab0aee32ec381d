import { audit } from './audit.ts'
import { hono } from './targets/hono.ts'

audit(hono)
