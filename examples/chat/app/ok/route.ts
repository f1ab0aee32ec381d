/** For load balancers and the launcher of the demo. */
export const dynamic = 'force-dynamic'
export const GET = (): Response => Response.json({ ok: true })
