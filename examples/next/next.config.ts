/** Node loads these as they are: in a bundle there would be two of each. */
export default { serverExternalPackages: ['agentwire', 'libsql', 'pg', 'redis'] }
