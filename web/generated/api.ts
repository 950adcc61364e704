// Written by scripts/types.mjs from the OpenAPI document. Do not edit: run `make page-types`.

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this is, and where to go */
        get: operations["getIndex"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Become a member by an invitation
         * @description Anybody with a token of his own and the invitation's. The organization is named by the invitation.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller and his memberships
         * @description Memberships that were deactivated are listed, too: `is_active` says so.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/charges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of charges
         * @description In descending order of their ids, which never change: of UUIDv7, newest first.
         */
        get: operations["listCharges"];
        put?: never;
        /**
         * Import charges
         * @description One, or up to 1,000 as a JSON list or as NDJSON (`application/x-ndjson`), in one transaction. Each row has an answer of its own: a refused row keeps no other from being written, and an id that is known with the same content is not made twice. What is no JSON, one line of NDJSON included, refuses the whole. A charge of a month that is closed or closing goes into the next open one, and says so in `late_of`.
         */
        post: operations["importCharges"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/charges/{charge}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One charge */
        get: operations["getCharge"];
        /**
         * Correct a charge
         * @description As a whole, while its month is open or while it is one of the blocked rows of a closing. It may move into another open month. What is confirmed never changes: take it back with a charge that `reverses` it.
         */
        put: operations["correctCharge"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/closings/{period}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the closing of a month is
         * @description A month that nobody has begun to close is `open`.
         */
        get: operations["getClosing"];
        put?: never;
        /**
         * Close a month
         * @description Begins to close it, or goes on with what was blocked or interrupted: 202. Where somebody else is at it, or it is closed: 200, and how far it is. From now on no charge comes into the month, and nobody waits for the closing. Rows that can't be confirmed stop themselves alone, and are named in `blocked`: correct or exclude them, and start again.
         */
        post: operations["startClosing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/closings/{period}/exclude": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a blocked row into the next open month
         * @description With a reason, which is history. Only a row that is named as blocked can be moved.
         */
        post: operations["excludeCharge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happens, as it happens
         * @description Server-Sent Events: `id` is the event's position in the organization's log, `event` its type such as `request.approve`, and `data` a JSON object `{type, timestamp, data}` without titles, names or reasons: look at what changed with the other calls. Each listener hears what he may see at that moment. Send the last `id` as `Last-Event-ID` to hear what came after it; where that is too long ago, or has not been yet, an event `resync` says to look at everything anew, and goes on from its `id`. A comment comes at least every 15 s. The stream ends when the token or the membership does, when the server is stopped, and when the client reads too slowly: come again with the last `id`. An id of another organization is a number like any other.
         */
        get: operations["listenToEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The organization's history
         * @description For administrators. Oldest first, in an order that never changes; requests that were never submitted are left out. `Accept: text/csv` or `application/x-ndjson` streams the whole selection (without `limit` and `cursor`), two at once per organization; in CSV one `'` stands before a cell that begins with `=`, `+`, `-`, `@`, TAB or CR. A transfer that does not end properly is not whole. Each walk, at its first page, and each export is itself recorded as a row of kind `access`, after the answer.
         */
        get: operations["inspectHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/history/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Was anything bent?
         * @description For administrators. Recomputes every hash, at most 10,000 stored rows a call: go on with `next_cursor`. Ends at the first broken row.
         */
        get: operations["verifyHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of invitations
         * @description Newest first. Invitations are never deleted: they say how somebody became a member.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite somebody
         * @description `token` and `link` are in this one answer only, and never in a replay. Who has them can accept once, until `expires_at`.
         */
        post: operations["invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/invitations/{invitation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One invitation */
        get: operations["getInvitation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/invitations/{invitation}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take an open invitation back */
        post: operations["revokeInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/me/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the caller is sent by mail
         * @description In this organization. Off by default.
         */
        get: operations["getOwnMail"];
        /**
         * Set what the caller is sent by mail
         * @description All of it at once. A new address is sent a link to say yes with, within a day; until then it gets nothing else. Each mail has a link that switches its kind off, without sign-in.
         */
        put: operations["setOwnMail"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/me/mail/confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the link to say yes once more
         * @description For an address that is not confirmed yet.
         */
        post: operations["askAgain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of members
         * @description By the time of joining, which never changes. Deactivated members stay on the list.
         */
        get: operations["listMembers"];
        put?: never;
        /**
         * Add a member
         * @description A person by the `user_id` that `GET /api/v1/me` answers to him.
         */
        post: operations["addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One member */
        get: operations["getMember"];
        /**
         * Change a member's name and rights
         * @description Nobody is ever deleted: deactivate with `is_active: false`. The last active administrator stays one.
         */
        put: operations["changeMember"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/members/{user}/pseudonymize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a member's name by a pseudonym
         * @description For somebody who asks to be forgotten: ends the membership and its rights. Rows of history that were written already keep the name as of then.
         */
        post: operations["pseudonymizeMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of requests
         * @description Newest first by creation, which never changes, so a walk is stable while people work. What the caller may not see is not there.
         */
        get: operations["listRequests"];
        put?: never;
        /**
         * Begin a draft
         * @description Any active member may. The answer is a `draft` in version 1, which only its applicant sees.
         */
        post: operations["createRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many requests there are
         * @description Per view and status, from the same rule as the list.
         */
        get: operations["countRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One request
         * @description `allowed_actions` says what this very caller could do to it now.
         */
        get: operations["getRequest"];
        /**
         * Replace the content
         * @description The applicant, while it is `draft` or `returned`. Content that is what it was already makes no new version.
         */
        put: operations["editRequest"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide: yes
         * @description Who has `can_approve` and did not write it, from `pending`. Final.
         */
        post: operations["approveRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/eligibility": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the caller could do to it, and why not the rest
         * @description For each action whether a call would succeed now, and if not, the code and sentence that it would be refused with. Administrators may ask for any member with `user_id`.
         */
        get: operations["getEligibility"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened to a request
         * @description One row for each version, oldest first. Rows are never changed or deleted.
         */
        get: operations["getRequestHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/history/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Was this request's history bent?
         * @description For whoever may see the request.
         */
        get: operations["verifyRequestHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/processing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How it stands
         * @description Who is at it, since when, his last sign of life, and when another takes over.
         */
        get: operations["getProcessing"];
        put?: never;
        /**
         * Start what follows the approval
         * @description With a connector configured each approval starts it by itself; a person starts it where there was none, or again after it has failed. Of those who ask at once one starts it. Whoever may see the request may ask.
         */
        post: operations["startProcessing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/processing/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take it away from whoever is at it
         * @description For administrators. The holder learns of it by his next heartbeat and saves nothing; what the outside system has done by then is done. It is `failed`, and can be started again.
         */
        post: operations["cancelProcessing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide: no
         * @description As approve, but with a reason. Final.
         */
        post: operations["rejectRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/send-back": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask the applicant to change something
         * @description As approve, but with a reason. It is `returned` then, and the applicant may edit and submit it again.
         */
        post: operations["sendBackRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a decision
         * @description The applicant, from `draft` or `returned`. It is `pending` then, and clears `decision_reason`.
         */
        post: operations["submitRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The content as it stood at a version
         * @description For every version from 1 to the present one; a submit or a decision leaves the content as it was.
         */
        get: operations["getRequestVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/requests/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the request back
         * @description The applicant, from `draft`, `returned` or `pending`. Final.
         */
        post: operations["withdrawRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every month's totals
         * @description As of one moment: a month is upcoming with all of its charges, and then closed with all of them.
         */
        get: operations["listStatements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/statements/{period}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A closed month
         * @description Its totals and a page of its rows, which never change. `Accept: text/csv` or `application/x-ndjson` streams all of them (without `limit` and `cursor`); in CSV one `'` stands before a description that begins like a formula. Not found while the month is not closed.
         */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of webhooks
         * @description Oldest first, which never changes.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Name an address that is to be told of events
         * @description From now on it is sent every event that it wants: `POST` with `{type, timestamp, data}`, the headers `webhook-id` (the same over all attempts), `webhook-timestamp` and `webhook-signature` of Standard Webhooks. `secret` is in this one answer only, and never in a replay. At least once, and of one request, member, job or month in order; nothing of a request that was never submitted. A 2xx is a receipt. 410 turns the endpoint off, 429 and 503 make it rest for as long as `Retry-After` says; after any other answer, a redirect included, it is tried again with growing pauses, and given up after days.
         */
        post: operations["addWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One webhook
         * @description Also how far it has been told, and why it fails.
         */
        get: operations["getWebhook"];
        /**
         * Change address and events
         * @description As a whole. With another address it is tried at once. What is under way to the old one still arrives there.
         */
        put: operations["changeWebhook"];
        post?: never;
        /**
         * Delete a webhook
         * @description With its secrets and its log. Its history stays.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The latest attempts
         * @description Newest first. The log is kept short: see the settings `webhooks.log_rows` and `webhooks.log_days`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send nothing any more
         * @description What comes meanwhile is sent when it is enabled again, unless it is older than the installation keeps events.
         */
        post: operations["disableWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go on where it stopped
         * @description Also tries one at once that waits for its next attempt.
         */
        post: operations["enableWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again, or skip
         * @description Goes on with `from_position`, earlier or later than where it stands, and enables it. Events keep their `webhook-id`.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/organizations/{org}/webhooks/{webhook}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign with a new secret
         * @description `secret` is in this one answer only. For `overlap_hours` the secret before it signs, too, so that a receiver can change over when it likes; 0 ends that at once.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How people can sign in here
         * @description For pages: the identity provider that this installation's own page uses, if any.
         */
        get: operations["getSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in/demo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token for somebody of the demo
         * @description Only at `ringi serve --demo` with a local key on a loopback address, called from that machine without a proxy and by no other page; everywhere else it is not there.
         */
        post: operations["signInToDemo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document as a page */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Does the process run?
         * @description Never asks the database: a restart would not mend that.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Should requests be sent here?
         * @description Yes while the database answers, its schema is as new as this program, and nobody asked for a stop.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a person sees who follows an invitation's link
         * @description The token stands behind `#`, so no server and no log sees it.
         */
        get: operations["getInvitationPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mail/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a person sees who follows a mail's link to say yes
         * @description With `?token=`, as the mail has it. Looking does nothing.
         */
        get: operations["getMailConfirmation"];
        put?: never;
        /**
         * Say yes to mails at this address
         * @description The form of the page above. The link is the proof; the body is not read.
         */
        post: operations["confirmMail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mail/unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a person sees who follows a mail's link to get no more of these
         * @description With `?token=`, as the mail has it. Looking does nothing.
         */
        get: operations["getMailUnsubscription"];
        put?: never;
        /**
         * Get no more mails of this kind
         * @description One click, as mail programs do it (RFC 8058), or the form of the page above. The link is the proof; the body is not read.
         */
        post: operations["unsubscribeFromMail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Figures for Prometheus
         * @description Keep this path from the outside at the proxy.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description OpenAPI 3.1. `ringi openapi` prints the same.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description The actions on a request.
         * @enum {string}
         */
        Action: "create" | "edit" | "submit" | "approve" | "reject" | "send_back" | "withdraw";
        /** @description A row that a run could not confirm. */
        Blocked: {
            /** Format: uuid */
            charge_id: string;
            /** @description Stable: `reversal_invalid`, or `refused` by the database. */
            code: string;
            /** @description What the database said. */
            detail: string;
        };
        /** @description The first broken row. */
        Break: {
            kind: string;
            /** @description Of kind `request` only. */
            request_id?: string | null;
            /** @description Of the other kinds. */
            subject_id?: string | null;
            /** Format: int64 */
            version: number;
            /** @enum {string} */
            why: "entry_missing" | "hash_format" | "entry_hash" | "transition" | "content_missing" | "content_hash" | "content_unexpected" | "request_missing" | "request_version" | "request_status" | "request_content" | "request_chain_hash" | "request_origin" | "request_decision" | "request_last" | "head_missing" | "head_differs" | "checkpoint_missing" | "checkpoint_differs";
        };
        /** @description A charge. */
        Charge: {
            /**
             * Format: int64
             * @description In the currency's minor unit. Below zero only when it reverses another charge.
             */
            amount: number;
            currency: string;
            description?: string | null;
            /** Format: uuid */
            id: string;
            /** @description The month that it would have belonged to, had that not been closed or closing. */
            late_of?: string | null;
            /** Format: date-time */
            occurred_at: string;
            /** @description The month that it belongs to, such as `2026-10`. */
            period: string;
            /** @description It stands in its month's statement, or will in the instant in which that is closed. */
            processed: boolean;
            /**
             * Format: uuid
             * @description The approved request that it comes from.
             */
            request_id?: string | null;
            /**
             * Format: uuid
             * @description The charge that it takes back.
             */
            reverses?: string | null;
            /**
             * Format: int64
             * @description Counts the changes, from 1. Send it back with a correction.
             */
            version: number;
        };
        /**
         * @description The whole charge anew.
         * @example {
         *       "amount": 46800,
         *       "currency": "JPY",
         *       "description": "大阪出張",
         *       "occurred_at": "2026-10-31T14:59:59Z",
         *       "version": 1
         *     }
         */
        ChargeContent: {
            /**
             * Format: int64
             * @description In the currency's minor unit. Below zero only when it reverses another charge.
             */
            amount: number;
            /** @description An active ISO 4217 code in capitals. */
            currency: string;
            /** @description Paragraphs: no control characters but TAB and LF. */
            description: string | null;
            /**
             * Format: date-time
             * @description When the money was spent: it decides the month. At most a day in the future.
             */
            occurred_at: string;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description A page of a list. */
        ChargePage: {
            items: components["schemas"]["Charge"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description A closed month. */
        ClosedMonth: {
            /** Format: date-time */
            closed_at: string;
            period: string;
            totals: components["schemas"]["Total"][];
        };
        /** @description How far the closing of a month is. */
        Closing: {
            /** @description The rows that stand in the way, by id; at most 100 are named. */
            blocked: components["schemas"]["Blocked"][];
            /**
             * Format: int64
             * @description How many there are.
             */
            blocked_count: number;
            /**
             * Format: int64
             * @description Those that are confirmed. They show when all are.
             */
            confirmed: number;
            /**
             * Format: date-time
             * @description When the last run ended, with the month closed or with blocked rows.
             */
            finished_at?: string | null;
            /**
             * Format: date-time
             * @description The last sign of life of who is at it.
             */
            heartbeat_at?: string | null;
            /**
             * @description Who is at it: host, process and a number. Null while it is `running`: the run was interrupted, and is gone on with by
             *     a server soon, or by whoever starts it again.
             */
            holder?: string | null;
            period: string;
            /**
             * Format: int64
             * @description How fast the run under way is.
             */
            rows_per_second: number;
            /**
             * Format: int64
             * @description What the run under way needs, as far as one can tell.
             */
            seconds_left?: number | null;
            /** Format: date-time */
            started_at?: string | null;
            state: components["schemas"]["ClosingState"];
            /**
             * Format: int64
             * @description The month's charges; while it is `open`, 100000 says that there are as many or more.
             */
            total: number;
            /** @description What an administrator may have overlooked. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @description `open`: nobody has begun to close it. `running`: somebody is at it. `blocked`: the last run could not confirm some
         *     rows. `closed`: it shows in its statement, and never changes again.
         * @enum {string}
         */
        ClosingState: "open" | "running" | "blocked" | "closed";
        /** @description A confirmed row of a closed month. It never changes. */
        ConfirmedCharge: {
            /** Format: int64 */
            amount: number;
            /** Format: uuid */
            charge_id: string;
            currency: string;
            description?: string | null;
            /** Format: date-time */
            occurred_at: string;
            /**
             * Format: uuid
             * @description The approved request that it comes from.
             */
            request_id?: string | null;
        };
        /** @description How many requests there are, per view and status, zeros included: as many as a walk through the list shows. */
        Counts: {
            /** @description Those that the caller may see. */
            all: components["schemas"]["CountsByStatus"];
            /** @description Those that the caller could decide now. */
            inbox: components["schemas"]["InboxCount"];
            /** @description Those that the caller applies for. */
            mine: components["schemas"]["CountsByStatus"];
        };
        /** @description One number for each status. */
        CountsByStatus: {
            /** Format: int64 */
            approved: number;
            /** Format: int64 */
            draft: number;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            rejected: number;
            /** Format: int64 */
            returned: number;
            /** Format: int64 */
            withdrawn: number;
        };
        /** @description How a request stands, for the one who was too late. */
        Current: {
            last_action: components["schemas"]["Action"];
            /** Format: uuid */
            last_actor_id: string;
            /** @description The name as of then. */
            last_actor_name: string;
            /** Format: date-time */
            last_at: string;
            status: components["schemas"]["Status"];
            /**
             * Format: int64
             * @description The version to send after looking again.
             */
            version: number;
        };
        /**
         * @description Somebody of the demo.
         * @example {
         *       "user_id": "0197c0de-0000-7000-8000-000000000101"
         *     }
         */
        DemoPerson: {
            /**
             * Format: uuid
             * @description The person, as `GET /api/v1/me` names him.
             */
            user_id: string;
        };
        /** @description A token of the demo. */
        DemoToken: {
            /**
             * Format: int64
             * @description In seconds.
             */
            expires_in: number;
            /** @description For `Authorization: Bearer`. */
            token: string;
        };
        /** @description What somebody could do to a request now, and what stands in the way of the rest. */
        Eligibility: {
            actions: components["schemas"]["EligibleAction"][];
            /** Format: uuid */
            request_id: string;
            status: components["schemas"]["Status"];
            /**
             * Format: uuid
             * @description About whom.
             */
            user_id: string;
            /**
             * Format: int64
             * @description The version and status that this was judged on.
             */
            version: number;
        };
        /** @description One action. */
        EligibleAction: {
            action: components["schemas"]["Action"];
            /** @description The code that a call would be refused with; null when it is possible. */
            code?: string | null;
            /** @description Why, and who could; null when it is possible. */
            detail?: string | null;
            /** @description True: a call with this version and good input succeeds. */
            possible: boolean;
        };
        /**
         * @description A blocked row, and why it is moved.
         * @example {
         *       "charge_id": "0197c0de-0000-7000-8000-00000000c001",
         *       "reason": "What it reverses is not confirmed."
         *     }
         */
        Exclusion: {
            /**
             * Format: uuid
             * @description One of the month's blocked rows.
             */
            charge_id: string;
            /** @description Paragraphs: no control characters but TAB and LF, not blank. */
            reason: string;
        };
        Health: {
            /** @enum {string} */
            status: "live" | "ready" | "not_ready";
        };
        /** @description A row of a request's history. */
        HistoryEntry: {
            action: components["schemas"]["Action"];
            /** Format: uuid */
            actor_id: string;
            /** @description The name as of then. */
            actor_name: string;
            /** @description Names exactly the content that was judged: the `content_hash` of `versions/{version}`. */
            content_hash: string;
            from_status: components["schemas"]["Status"] | null;
            /** Format: date-time */
            occurred_at: string;
            /** @description What the actor gave as a reason; always there for `reject` and `send_back`. */
            reason: string | null;
            /** Format: uuid */
            request_id: string;
            to_status: components["schemas"]["Status"];
            /**
             * Format: int64
             * @description The version that this change made.
             */
            version: number;
        };
        /** @description A page of a list. */
        HistoryPage: {
            items: components["schemas"]["HistoryEntry"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /**
         * @description `created`: a new charge. `exists`: the very charge was there already. `refused`: nothing was done.
         * @enum {string}
         */
        ImportResult: "created" | "exists" | "refused";
        /** @description What became of an import: one item for each row, in order. */
        Imported: {
            items: components["schemas"]["ImportedRow"][];
        };
        /** @description What became of one row. */
        ImportedRow: {
            code?: components["schemas"]["RowFault"] | null;
            /**
             * Format: uuid
             * @description Null: the row has none that could be read.
             */
            id?: string | null;
            /** @description The month that it would have belonged to, had that not been closed or closing. */
            late_of?: string | null;
            /** @description The month that the charge belongs to; null when it was refused. */
            period?: string | null;
            result: components["schemas"]["ImportResult"];
        };
        /** @description What waits for a decision of the caller: only pending requests do. */
        InboxCount: {
            /** Format: int64 */
            pending: number;
        };
        /** @description An invitation to become a member. */
        Invitation: {
            /**
             * Format: uuid
             * @description Who became a member by it.
             */
            accepted_by?: string | null;
            can_approve: boolean;
            /** Format: date-time */
            created_at: string;
            /** @description The name that the new member will have. */
            display_name: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description The administrator who invited.
             */
            invited_by: string;
            is_admin: boolean;
            /** @description The path of a page that says what to do with the token, which stands behind `#` and so in no log. */
            link?: string | null;
            state: components["schemas"]["InvitationState"];
            /** @description What the invited person sends to accept. Only in the first answer to the one who invites; null ever after. */
            token?: string | null;
        };
        /** @description A page of a list. */
        InvitationPage: {
            items: components["schemas"]["Invitation"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /**
         * @description What became of an invitation.
         * @enum {string}
         */
        InvitationState: "open" | "expired" | "accepted" | "revoked" | "withdrawn";
        /**
         * @description The token of an invitation.
         * @example {
         *       "token": "abababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab"
         *     }
         */
        InvitationToken: {
            /** @description What the administrator was given, 128 hexadecimal digits. */
            token: string;
        };
        /**
         * @description How a request's processing stands.
         * @enum {string}
         */
        JobState: "not_started" | "waiting" | "running" | "succeeded" | "failed";
        /**
         * @description What a person reads.
         * @enum {string}
         */
        Language: "en" | "ja";
        /**
         * @description What the caller wants to be sent.
         * @example {
         *       "address": "aiko@example.com",
         *       "closings": false,
         *       "decisions": true,
         *       "jobs": true,
         *       "language": "ja",
         *       "submissions": true
         *     }
         */
        MailWish: {
            /**
             * Format: email
             * @description In ASCII. Another one than before has to be confirmed. Null: no mail.
             */
            address: string | null;
            /** @description To administrators: a month was closed, or its closing stopped. */
            closings: boolean;
            /** @description To applicants: somebody decided on the request. */
            decisions: boolean;
            /** @description To administrators: what follows an approval failed, and needs a person. */
            jobs: boolean;
            /**
             * @description Of the mails.
             * @enum {string}
             */
            language: "en" | "ja";
            /** @description To those who decide: requests wait for them. */
            submissions: boolean;
        };
        /** @description The caller. */
        Me: {
            /** @description Every organization that the caller is or was a member of; empty for an unknown person. */
            memberships: components["schemas"]["Membership"][];
            /**
             * Format: uuid
             * @description The token's `sub`.
             */
            user_id: string;
        };
        /** @description A member of an organization. */
        Member: {
            /** @description May decide on other people's requests. */
            can_approve: boolean;
            /** @description One line, 1 to 200 Unicode scalar values. */
            display_name: string;
            /** @description A member who is not active may do nothing and sees nothing. */
            is_active: boolean;
            /** @description May administer members, and sees every request that was ever submitted. */
            is_admin: boolean;
            /**
             * Format: uuid
             * @description The `sub` of the person's tokens.
             */
            user_id: string;
            /**
             * Format: int64
             * @description Counts the changes of this member, from 1.
             */
            version: number;
        };
        /**
         * @description The whole member anew.
         * @example {
         *       "can_approve": false,
         *       "display_name": "Aiko Tanaka",
         *       "is_active": true,
         *       "is_admin": false,
         *       "version": 1
         *     }
         */
        MemberChange: {
            /** @description May decide on other people's requests. */
            can_approve: boolean;
            /** @description One line: no control characters, not blank. Nothing is trimmed. */
            display_name: string;
            /** @description A member who is not active may do nothing and sees nothing. */
            is_active: boolean;
            /** @description May administer members, and sees every request that was ever submitted. */
            is_admin: boolean;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description A page of a list. */
        MemberPage: {
            items: components["schemas"]["Member"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description One of the caller's memberships. */
        Membership: {
            /** @description May decide on other people's requests. */
            can_approve: boolean;
            /** @description The caller's name there. */
            display_name: string;
            /** @description False: every other call in this organization answers `not_a_member`. */
            is_active: boolean;
            /** @description May administer members, and sees every request that was ever submitted. */
            is_admin: boolean;
            /** Format: uuid */
            organization_id: string;
            organization_name: string;
            /** @description An IANA name, such as `Asia/Tokyo`. */
            time_zone: string;
        };
        /**
         * @description A charge.
         * @example {
         *       "amount": 48600,
         *       "currency": "JPY",
         *       "description": "大阪出張",
         *       "id": "0197c0de-0000-7000-8000-00000000c001",
         *       "occurred_at": "2026-10-31T14:59:59Z"
         *     }
         */
        NewCharge: {
            /**
             * Format: int64
             * @description In the currency's minor unit. Below zero only when it reverses another charge.
             */
            amount: number;
            /** @description An active ISO 4217 code in capitals. */
            currency: string;
            /** @description Paragraphs: no control characters but TAB and LF. */
            description?: string | null;
            /**
             * Format: uuid
             * @description Made by the client: the same charge sent again is not made twice.
             */
            id: string;
            /**
             * Format: date-time
             * @description When the money was spent: it decides the month. At most a day in the future.
             */
            occurred_at: string;
            /**
             * Format: uuid
             * @description A confirmed charge that this one takes back: the same currency, exactly the opposite amount, once.
             */
            reverses?: string | null;
        };
        /** @description One charge, or a list of them. */
        NewCharges: components["schemas"]["NewCharge"] | components["schemas"]["NewCharge"][];
        /**
         * @description The membership that is offered.
         * @example {
         *       "can_approve": true,
         *       "display_name": "Aiko Tanaka",
         *       "is_admin": false,
         *       "valid_hours": 48
         *     }
         */
        NewInvitation: {
            /** @description May decide on other people's requests. */
            can_approve: boolean;
            /** @description One line: no control characters, not blank. Nothing is trimmed. */
            display_name: string;
            /** @description May administer members, and sees every request that was ever submitted. */
            is_admin: boolean;
            /**
             * @description For how many hours the invitation is open.
             * @default 168
             */
            valid_hours: number | null;
        };
        /**
         * @description A person with rights.
         * @example {
         *       "can_approve": false,
         *       "display_name": "Aiko Tanaka",
         *       "is_active": true,
         *       "is_admin": false,
         *       "user_id": "0197c0de-0000-7000-8000-000000000101"
         *     }
         */
        NewMember: {
            /** @description May decide on other people's requests. */
            can_approve: boolean;
            /** @description One line: no control characters, not blank. Nothing is trimmed. */
            display_name: string;
            /** @description A member who is not active may do nothing and sees nothing. */
            is_active: boolean;
            /** @description May administer members, and sees every request that was ever submitted. */
            is_admin: boolean;
            /**
             * Format: uuid
             * @description The person, as `GET /api/v1/me` names him.
             */
            user_id: string;
        };
        /**
         * @description A request to begin.
         * @example {
         *       "amount": 48600,
         *       "currency": "JPY",
         *       "description": "Two days, one night.",
         *       "title": "大阪出張費"
         *     }
         */
        NewRequest: {
            /**
             * Format: int64
             * @description In the currency's minor unit, written without fraction or exponent. Both amount and currency, or neither.
             */
            amount?: number | null;
            /** @description An active ISO 4217 code in capitals. */
            currency?: string | null;
            /** @description Paragraphs: no control characters but TAB and LF. */
            description?: string | null;
            /** @description One line: no control characters, not blank. Nothing is trimmed. */
            title: string;
        };
        /**
         * @description An address, and what it is told of.
         * @example {
         *       "event_types": [
         *         "request.approve",
         *         "request.reject"
         *       ],
         *       "url": "https://erp.example/ringi"
         *     }
         */
        NewWebhook: {
            /** @description Which events; empty or left out: all of them. */
            event_types?: ("request.create" | "request.edit" | "request.submit" | "request.approve" | "request.reject" | "request.send_back" | "request.withdraw" | "job.start" | "job.succeed" | "job.fail" | "job.cancel" | "closing.start" | "closing.block" | "closing.exclude" | "closing.close" | "member.add" | "member.change" | "member.pseudonymize" | "webhook.add" | "webhook.change" | "webhook.enable" | "webhook.disable" | "webhook.replay" | "webhook.rotate_secret" | "webhook.fail" | "webhook.delete")[] | null;
            /**
             * Format: uri
             * @description An absolute address of https or http, without name, password or fragment, on the public network unless the installation permits others.
             */
            url: string;
        };
        /**
         * @description Nothing has to be said.
         * @example {}
         */
        Nothing: Record<string, never>;
        /** @description A row of an organization's history: of a request, or of what belongs to no request. */
        OrganizationHistoryEntry: {
            action: string;
            /**
             * Format: uuid
             * @description Null: the command line.
             */
            actor_id?: string | null;
            /** @description The name as of then. */
            actor_name: string;
            /** @description Names exactly the content that was judged. */
            content_hash?: string | null;
            /** @description Of the other kinds: what changed. */
            detail?: Record<string, never> | null;
            from_status?: string | null;
            /** @description `request`, `member`, `job`, `closing` or `access`. */
            kind: string;
            /** Format: date-time */
            occurred_at: string;
            reason?: string | null;
            /**
             * Format: uuid
             * @description Of kind `request` only.
             */
            request_id?: string | null;
            /** @description Of the other kinds: which member, job, month, or who looked. */
            subject_id?: string | null;
            to_status?: string | null;
            /**
             * Format: int64
             * @description The row's number in the history of its request or subject, from 1.
             */
            version: number;
        };
        /** @description A page of a list. */
        OrganizationHistoryPage: {
            items: components["schemas"]["OrganizationHistoryEntry"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description The caller's own mail in an organization. */
        OwnMail: {
            /** @description Where to; null: nowhere. */
            address: string | null;
            /** @description To administrators: a month was closed, or its closing stopped. */
            closings: boolean;
            /** @description Nothing but the question is sent to an address before whoever reads it has said yes. */
            confirmed: boolean;
            /** @description To applicants: somebody decided on the request. */
            decisions: boolean;
            /** @description False: this installation sends no mail. */
            enabled: boolean;
            /** @description To administrators: what follows an approval failed, and needs a person. */
            jobs: boolean;
            language: components["schemas"]["Language"];
            /**
             * Format: date-time
             * @description When a mail server last said that it takes no mail to this address; null: never.
             */
            refused_at: string | null;
            /** @description To those who decide: requests wait for them. One mail for those of a while. */
            submissions: boolean;
        };
        /** @description A person, by id and name. */
        Person: {
            display_name: string;
            /** Format: uuid */
            user_id: string;
        };
        /** @description RFC 9457 problem details. */
        Problem: {
            /** @description What a program decides by. Once released, a code never changes its meaning. */
            code: string;
            /** @description For `request_changed` and `invalid_transition`: a `Current`. For `member_changed`: a `Member`. */
            current?: Record<string, never>;
            /** @description What to do next. */
            detail: string;
            /** @description For `validation_failed` and `unknown_field`: what is wrong where. */
            errors?: components["schemas"]["Violation"][];
            /** @description The same as in the `X-Request-Id` header and in the log. */
            request_id: string;
            /**
             * Format: int32
             * @description The same as the answer's status.
             */
            status: number;
            /** @description What the code means, the same every time. */
            title: string;
            /** @description `urn:ringi:problem:` and the code. */
            type: string;
        };
        /** @description How a request's processing stands. */
        Processing: {
            /**
             * Format: date-time
             * @description Since when.
             */
            acquired_at: string | null;
            /**
             * Format: int32
             * @description How often the outside system was asked, or was about to be.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When another process takes over, unless the holder is heard of again.
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description The holder's last sign of life.
             */
            heartbeat_at: string | null;
            /** @description While it is `running`: who is at it, as host, process and a number. For people only. */
            holder: string | null;
            /** @description What went wrong last, since it was last started. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description While it is `waiting`: when it is due.
             */
            next_attempt_at: string | null;
            /** @description What the outside system answered: any JSON. */
            result: unknown;
            state: components["schemas"]["JobState"];
        };
        /**
         * @description Where to go on.
         * @example {
         *       "from_position": 1,
         *       "version": 1
         *     }
         */
        Replay: {
            /**
             * Format: int64
             * @description The first event to be sent, from the webhook's `oldest_position` to one after its `newest_position`.
             */
            from_position: number;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description A request, as the caller sees it. */
        Request: {
            /** @description What this very caller could do now: a write with the present version and good input would be accepted. */
            allowed_actions: components["schemas"]["Action"][];
            /**
             * Format: int64
             * @description In the currency's minor unit (yen, cents). Null: no money in it, and no currency either.
             */
            amount: number | null;
            /** Format: uuid */
            applicant_id: string;
            /** @description The applicant's present name. */
            applicant_name: string;
            /** @description SHA-256, in hexadecimal, over the RFC 8785 form of title, description, amount and currency. */
            content_hash: string;
            /** Format: date-time */
            created_at: string;
            /** @description An ISO 4217 code. Null exactly when `amount` is. */
            currency: string | null;
            /**
             * Format: date-time
             * @description The last approval or rejection.
             */
            decided_at: string | null;
            /** @description The reason of the last decision (approve, reject or send back); cleared by a submit. */
            decision_reason: string | null;
            /** @description Paragraphs, up to 10,000 Unicode scalar values. */
            description: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            organization_id: string;
            status: components["schemas"]["Status"];
            /**
             * Format: date-time
             * @description The last submission. Null: never submitted, so only the applicant sees it.
             */
            submitted_at: string | null;
            /** @description One line, 1 to 200 Unicode scalar values. */
            title: string;
            /**
             * Format: date-time
             * @description The last change, of content or status.
             */
            updated_at: string;
            /**
             * Format: int64
             * @description Counts the changes, from 1. Send it back with every write.
             */
            version: number;
            waiting_for: components["schemas"]["WaitingFor"] | null;
        };
        /**
         * @description The whole content anew.
         * @example {
         *       "amount": 48600,
         *       "currency": "JPY",
         *       "description": "Two days, one night.",
         *       "title": "大阪出張費",
         *       "version": 1
         *     }
         */
        RequestContent: {
            /**
             * Format: int64
             * @description In the currency's minor unit, written without fraction or exponent. Both amount and currency, or neither.
             */
            amount: number | null;
            /** @description An active ISO 4217 code in capitals. */
            currency: string | null;
            /** @description Paragraphs: no control characters but TAB and LF. */
            description: string;
            /** @description One line: no control characters, not blank. Nothing is trimmed. */
            title: string;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description A page of a list. */
        RequestPage: {
            items: components["schemas"]["Request"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description The content of a request as it stood at a version. */
        RequestVersion: {
            /**
             * Format: uuid
             * @description Who made this version.
             */
            actor_id: string;
            /** @description The name as of then. */
            actor_name: string;
            /**
             * Format: int64
             * @description In the currency's minor unit.
             */
            amount: number | null;
            content_hash: string;
            /**
             * Format: date-time
             * @description When this version was made.
             */
            created_at: string;
            /** @description An ISO 4217 code. Null exactly when `amount` is. */
            currency: string | null;
            description: string;
            title: string;
            /** Format: int64 */
            version: number;
        };
        /**
         * @description A new secret, and how long the present one stays.
         * @example {
         *       "overlap_hours": 24,
         *       "version": 1
         *     }
         */
        Rotation: {
            /**
             * @description For how many hours the present secret signs, too.
             * @default 24
             */
            overlap_hours: number | null;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /**
         * @description Why a row of an import was refused.
         * @enum {string}
         */
        RowFault: "amount_invalid" | "charge_conflict" | "currency_unknown" | "date_invalid" | "description_invalid" | "id_invalid" | "reversal_invalid" | "unknown_field";
        /**
         * @description Which version the author saw.
         * @example {
         *       "version": 2
         *     }
         */
        Seen: {
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /**
         * @description Which version the author saw, and why.
         * @example {
         *       "reason": "Which hotel?",
         *       "version": 2
         *     }
         */
        SeenAndNeededReason: {
            /** @description Paragraphs: no control characters but TAB and LF, not blank. */
            reason: string;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /**
         * @description Which version the author saw, and why, if he likes.
         * @example {
         *       "reason": "Within the budget.",
         *       "version": 2
         *     }
         */
        SeenAndReason: {
            /** @description Paragraphs: no control characters but TAB and LF, not blank. */
            reason?: string | null;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description How people can sign in here. */
        SignIn: {
            /** @description The people to choose from at a demo on this very machine; null everywhere else. */
            demo?: components["schemas"]["SignInPerson"][] | null;
            provider?: components["schemas"]["SignInProvider"] | null;
        };
        /** @description Somebody of the demo organization. */
        SignInPerson: {
            can_approve: boolean;
            display_name: string;
            is_admin: boolean;
            /** Format: uuid */
            user_id: string;
        };
        /** @description What a page without a secret needs to know of an identity provider. */
        SignInProvider: {
            client_id: string;
            issuer: string;
            /** @description The `resource` that is asked for (RFC 8707). */
            resource?: string | null;
            /** @description Separated by spaces. */
            scope: string;
        };
        /** @description What a start answers. */
        Started: {
            /**
             * Format: int32
             * @description How often the outside system was asked before.
             */
            attempts: number;
            /** @description True for the one call that moved it out of `not_started` or `failed`. */
            started: boolean;
            state: components["schemas"]["JobState"];
        };
        /** @description A page of a closed month's statement. */
        Statement: {
            /** Format: date-time */
            closed_at: string;
            /** @description In the order of what happened. */
            items: components["schemas"]["ConfirmedCharge"][];
            /** @description Send it as `cursor` for the next page. Null on the last page. */
            next_cursor: string | null;
            period: string;
            /** @description Of the whole month. */
            totals: components["schemas"]["Total"][];
        };
        /** @description Every month, newest first, as of one moment. */
        Statements: {
            /** @description Closed months. */
            months: components["schemas"]["ClosedMonth"][];
            /** @description Months with charges that are not closed. */
            upcoming: components["schemas"]["Upcoming"][];
        };
        /**
         * @description The statuses of a request.
         * @enum {string}
         */
        Status: "draft" | "pending" | "approved" | "rejected" | "returned" | "withdrawn";
        /** @description The sum of one currency. */
        Total: {
            /**
             * Format: int64
             * @description How many charges it is of.
             */
            count: number;
            currency: string;
            /** @description A decimal integer in the currency's minor unit. Text, since a sum can be larger than a number in JavaScript. */
            total: string;
        };
        /** @description A month that is not closed. */
        Upcoming: {
            period: string;
            totals: components["schemas"]["Total"][];
        };
        /** @description What a verification has found. */
        Verified: {
            /**
             * Format: int64
             * @description How many rows of history this part checked.
             */
            checked: number;
            first_broken?: components["schemas"]["Break"] | null;
            /** @description Send it as `cursor` for the next part. Null: that was all, or a broken row was met. */
            next_cursor?: string | null;
            /** @description True: no broken row was met in this part. */
            whole: boolean;
        };
        /** @description One rule that the input breaks. */
        Violation: {
            /** @description Stable. The conventions list them. */
            code: string;
            /** @description What would be right. Never repeats the value. */
            detail: string;
            /** @description A JSON pointer (RFC 6901) into the body, such as `/title`. */
            pointer: string;
        };
        /** @description Those who could decide on a pending request now. */
        WaitingFor: {
            /**
             * Format: int64
             * @description How many. Zero: the organization has nobody who could.
             */
            count: number;
            /** @description The first 20 of them, by name. */
            members: components["schemas"]["Person"][];
        };
        /** @description Something that an administrator may have overlooked. */
        Warning: {
            /** @description Stable: `earlier_month_open`. */
            code: string;
            detail: string;
            /** @description Which month it is about. */
            period: string;
        };
        /** @description An address that is told of events. */
        Webhook: {
            /** Format: date-time */
            created_at: string;
            /** @description Which events; empty: all of them. */
            event_types: ("request.create" | "request.edit" | "request.submit" | "request.approve" | "request.reject" | "request.send_back" | "request.withdraw" | "job.start" | "job.succeed" | "job.fail" | "job.cancel" | "closing.start" | "closing.block" | "closing.exclude" | "closing.close" | "member.add" | "member.change" | "member.pseudonymize" | "webhook.add" | "webhook.change" | "webhook.enable" | "webhook.disable" | "webhook.replay" | "webhook.rotate_secret" | "webhook.fail" | "webhook.delete")[];
            /**
             * Format: date-time
             * @description Since when it fails.
             */
            failing_since: string | null;
            /**
             * Format: int32
             * @description Attempts that failed in a row.
             */
            failures: number;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            last_attempt_at: string | null;
            /** @description What went wrong in it. */
            last_error: string | null;
            /**
             * Format: int32
             * @description What the last attempt was answered; null when there was no answer.
             */
            last_status: number | null;
            /**
             * Format: int64
             * @description The newest event of the organization; 0 when there is none.
             */
            newest_position: number;
            /**
             * Format: date-time
             * @description When it is tried again.
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description After a rotation the secret before it signs, too, until then.
             */
            old_secret_until: string | null;
            /**
             * Format: int64
             * @description The oldest event that a replay can begin with.
             */
            oldest_position: number;
            /**
             * Format: int64
             * @description Everything up to this position is delivered, or none of its business.
             */
            position: number;
            /** @description What signs: `whsec_` and Base64. Only in the first answer to the one who made it or rotated it; null ever after. */
            secret: string | null;
            state: components["schemas"]["WebhookState"];
            /**
             * Format: date-time
             * @description The last change. Deliveries change nothing.
             */
            updated_at: string;
            /** @description Where deliveries are sent. */
            url: string;
            /**
             * Format: int64
             * @description Counts the changes by people, and by Ringi where it turned the endpoint off, from 1. Send it back with every
             *     write.
             */
            version: number;
        };
        /**
         * @description Address and events anew, and the version that the author saw.
         * @example {
         *       "event_types": [],
         *       "url": "https://erp.example/ringi",
         *       "version": 1
         *     }
         */
        WebhookContent: {
            /** @description Which events; empty or left out: all of them. */
            event_types: ("request.create" | "request.edit" | "request.submit" | "request.approve" | "request.reject" | "request.send_back" | "request.withdraw" | "job.start" | "job.succeed" | "job.fail" | "job.cancel" | "closing.start" | "closing.block" | "closing.exclude" | "closing.close" | "member.add" | "member.change" | "member.pseudonymize" | "webhook.add" | "webhook.change" | "webhook.enable" | "webhook.disable" | "webhook.replay" | "webhook.rotate_secret" | "webhook.fail" | "webhook.delete")[] | null;
            /**
             * Format: uri
             * @description An absolute address of https or http, without name, password or fragment, on the public network unless the installation permits others.
             */
            url: string;
            /**
             * Format: int64
             * @description The version that the author saw.
             */
            version: number;
        };
        /** @description An attempt to deliver an event. */
        WebhookDelivery: {
            /** @description The beginning of the answer's body. */
            answer: string | null;
            /** Format: date-time */
            attempted_at: string;
            /** Format: int64 */
            duration_ms: number;
            /** @description What went wrong. */
            error: string | null;
            /** @description `webhook-id` of the delivery, the same over all attempts. */
            event_id: string;
            event_type: string;
            /**
             * Format: int64
             * @description Counts the attempts of this endpoint, from 1.
             */
            number: number;
            /**
             * Format: int64
             * @description Where the event stands; of what came before a first submission, where the submission stands.
             */
            position: number;
            result: components["schemas"]["WebhookDeliveryResult"];
            /**
             * Format: int32
             * @description What was answered; null when there was no answer.
             */
            status: number | null;
        };
        /** @description A page of a list. */
        WebhookDeliveryPage: {
            items: components["schemas"]["WebhookDelivery"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /**
         * @description What became of an attempt.
         * @enum {string}
         */
        WebhookDeliveryResult: "delivered" | "failed" | "throttled" | "gone";
        /** @description A page of a list. */
        WebhookPage: {
            items: components["schemas"]["Webhook"][];
            /** @description Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
            next_cursor: string | null;
        };
        /**
         * @description How an endpoint stands.
         * @enum {string}
         */
        WebhookState: "enabled" | "failing" | "disabled";
    };
    responses: {
        /** @description It is what `If-None-Match` names. */
        NotModified: {
            headers: {
                ETag: components["headers"]["ETag"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description - `busy`: The service is busy. Nothing was saved. */
        busy: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "busy";
                    /** @constant */
                    status?: 503;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `busy`: The service is busy. Nothing was saved.
         *     - `outcome_unknown`: The connection to the database was lost while saving.
         */
        "busy.outcome_unknown": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "busy" | "outcome_unknown";
                    /** @constant */
                    status?: 503;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `idempotency_in_progress`: The first call with this key is still under way. */
        idempotency_in_progress: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `already_a_member`: This person is a member already.
         */
        "idempotency_in_progress.already_a_member": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "already_a_member";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `charge_changed`: Somebody corrected the charge since you looked.
         *     - `period_closed`: The charge's month is closed, or is being closed.
         */
        "idempotency_in_progress.charge_changed.period_closed": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "charge_changed" | "period_closed";
                    current?: components["schemas"]["Charge"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `invitation_not_open`: The invitation was used, revoked, or its time is over.
         */
        "idempotency_in_progress.invitation_not_open": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "invitation_not_open";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `invitation_not_open`: The invitation was used, revoked, or its time is over.
         *     - `already_a_member`: This person is a member already.
         */
        "idempotency_in_progress.invitation_not_open.already_a_member": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "invitation_not_open" | "already_a_member";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `last_admin`: An organization keeps at least one active administrator.
         *     - `member_changed`: Somebody changed the member since you looked.
         */
        "idempotency_in_progress.last_admin.member_changed": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "last_admin" | "member_changed";
                    current?: components["schemas"]["Member"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `mail_not_configured`: This installation sends no mail.
         */
        "idempotency_in_progress.mail_not_configured": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "mail_not_configured";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `period_not_over`: The month is not over yet.
         */
        "idempotency_in_progress.period_not_over": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "period_not_over";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `too_many_webhooks`: The organization has as many webhooks as it can have.
         *     - `webhooks_not_configured`: There is no key to keep webhooks' secrets with.
         */
        "idempotency_in_progress.too_many_webhooks.webhooks_not_configured": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "too_many_webhooks" | "webhooks_not_configured";
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `webhook_changed`: Somebody changed the webhook since you looked.
         *     - `webhooks_not_configured`: There is no key to keep webhooks' secrets with.
         */
        "idempotency_in_progress.webhook_changed.webhooks_not_configured": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_progress" | "webhook_changed" | "webhooks_not_configured";
                    current?: components["schemas"]["Webhook"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `internal`: A fault of ours. Nothing was saved. */
        internal: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "internal";
                    /** @constant */
                    status?: 500;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `invalid_query`: The query is not acceptable. */
        invalid_query: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid_query";
                    /** @constant */
                    status?: 400;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `invalid_query`: The query is not acceptable.
         *     - `invalid_path`: The path has a part of the wrong type.
         */
        "invalid_query.invalid_path": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid_query" | "invalid_path";
                    /** @constant */
                    status?: 400;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `invalid_transition`: How it stands does not allow this action.
         *     - `idempotency_in_progress`: The first call with this key is still under way.
         */
        "invalid_transition.idempotency_in_progress": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid_transition" | "idempotency_in_progress";
                    current?: components["schemas"]["Current"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `invalid_transition`: How it stands does not allow this action.
         *     - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `mail_not_configured`: This installation sends no mail.
         */
        "invalid_transition.idempotency_in_progress.mail_not_configured": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid_transition" | "idempotency_in_progress" | "mail_not_configured";
                    current?: components["schemas"]["Current"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `invalid_transition`: How it stands does not allow this action.
         *     - `idempotency_in_progress`: The first call with this key is still under way.
         *     - `processing_not_configured`: There is no outside system to ask.
         */
        "invalid_transition.idempotency_in_progress.processing_not_configured": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "invalid_transition" | "idempotency_in_progress" | "processing_not_configured";
                    current?: components["schemas"]["Current"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `malformed_json`: The body is not a JSON object. */
        malformed_json: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "malformed_json";
                    /** @constant */
                    status?: 400;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `malformed_json`: The body is not a JSON object.
         *     - `invalid_query`: The query is not acceptable.
         *     - `invalid_idempotency_key`: The Idempotency-Key is not 1 to 255 visible ASCII characters.
         */
        "malformed_json.invalid_query.invalid_idempotency_key": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "malformed_json" | "invalid_query" | "invalid_idempotency_key";
                    /** @constant */
                    status?: 400;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `malformed_json`: The body is not a JSON object.
         *     - `invalid_query`: The query is not acceptable.
         *     - `invalid_path`: The path has a part of the wrong type.
         *     - `invalid_idempotency_key`: The Idempotency-Key is not 1 to 255 visible ASCII characters.
         */
        "malformed_json.invalid_query.invalid_path.invalid_idempotency_key": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "malformed_json" | "invalid_query" | "invalid_path" | "invalid_idempotency_key";
                    /** @constant */
                    status?: 400;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `method_not_allowed`: The resource does not know this method. */
        method_not_allowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "method_not_allowed";
                    /** @constant */
                    status?: 405;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `not_a_member`: You are not an active member of this organization. */
        not_a_member: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_a_member";
                    /** @constant */
                    status?: 403;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `not_a_member`: You are not an active member of this organization.
         *     - `forbidden`: You may see this, but you may not do that.
         */
        "not_a_member.forbidden": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_a_member" | "forbidden";
                    /** @constant */
                    status?: 403;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `not_a_member`: You are not an active member of this organization.
         *     - `forbidden`: You may see this, but you may not do that.
         *     - `self_approval_forbidden`: Nobody decides on a request that he wrote.
         */
        "not_a_member.forbidden.self_approval_forbidden": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_a_member" | "forbidden" | "self_approval_forbidden";
                    /** @constant */
                    status?: 403;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `not_acceptable`: The resource has none of the media types that were asked for. */
        not_acceptable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_acceptable";
                    /** @constant */
                    status?: 406;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `not_found`: There is nothing here that you may see. */
        not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "not_found";
                    /** @constant */
                    status?: 404;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `payload_too_large`: The body is too large. */
        payload_too_large: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "payload_too_large";
                    /** @constant */
                    status?: 413;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `rate_limited`: Too much at once. Nothing was done. */
        rate_limited: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "rate_limited";
                    /** @constant */
                    status?: 429;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `request_changed`: Somebody changed the request since you looked.
         *     - `invalid_transition`: How it stands does not allow this action.
         *     - `idempotency_in_progress`: The first call with this key is still under way.
         */
        "request_changed.invalid_transition.idempotency_in_progress": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "request_changed" | "invalid_transition" | "idempotency_in_progress";
                    current?: components["schemas"]["Current"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `request_timeout`: The body did not arrive in time. */
        request_timeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "request_timeout";
                    /** @constant */
                    status?: 408;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `unauthenticated`: A valid access token is needed. */
        unauthenticated: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unauthenticated";
                    /** @constant */
                    status?: 401;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `unsupported_media_type`: The body must be uncompressed application/json. */
        unsupported_media_type: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "unsupported_media_type";
                    /** @constant */
                    status?: 415;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `validation_failed`: Some values are not acceptable.
         *     - `unknown_field`: The body has a member that is not known here.
         */
        "validation_failed.unknown_field": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "validation_failed" | "unknown_field";
                    /** @constant */
                    status?: 422;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `validation_failed`: Some values are not acceptable.
         *     - `unknown_field`: The body has a member that is not known here.
         *     - `idempotency_key_reused`: This key was used for another call.
         */
        "validation_failed.unknown_field.idempotency_key_reused": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "validation_failed" | "unknown_field" | "idempotency_key_reused";
                    /** @constant */
                    status?: 422;
                } & components["schemas"]["Problem"];
            };
        };
        /**
         * @description - `validation_failed`: Some values are not acceptable.
         *     - `unknown_field`: The body has a member that is not known here.
         *     - `version_required`: A write carries the version that its author saw.
         *     - `idempotency_key_reused`: This key was used for another call.
         */
        "validation_failed.unknown_field.version_required.idempotency_key_reused": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "validation_failed" | "unknown_field" | "version_required" | "idempotency_key_reused";
                    /** @constant */
                    status?: 422;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `version_required`: A write carries the version that its author saw. */
        version_required: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "version_required";
                    /** @constant */
                    status?: 422;
                } & components["schemas"]["Problem"];
            };
        };
        /** @description - `webhook_changed`: Somebody changed the webhook since you looked. */
        webhook_changed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {unknown} */
                    code?: "webhook_changed";
                    current?: components["schemas"]["Webhook"];
                    /** @constant */
                    status?: 409;
                } & components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
        "Idempotency-Key": string;
        /** @description An `ETag` that the caller has: 304 when it is still the same. */
        "If-None-Match": string;
        /** @description The last `id` that the caller has heard: what came after it is told first. Without it, what happens from now on. */
        "Last-Event-ID": string;
        /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
        "X-Request-Id": string;
        /** @description Only this action. */
        action: "walk" | "export" | "start" | "block" | "exclude" | "close" | "correct" | "succeed" | "fail" | "cancel" | "add" | "change" | "pseudonymize" | "invite" | "revoke_invitation" | "accept_invitation" | "create" | "edit" | "submit" | "approve" | "reject" | "send_back" | "withdraw" | "enable" | "disable" | "replay" | "rotate_secret" | "delete";
        /** @description Only what this person did. */
        actor_id: string;
        /** @description Only those of this applicant. */
        applicant_id: string;
        /** @description The charge. */
        charge: string;
        /** @description The `next_cursor` of the page before, under the same filters. */
        cursor: string;
        /** @description Only what occurred at this time or later; from 1970 to 2199. */
        from: string;
        /** @description The request. */
        id: string;
        /** @description The invitation. */
        invitation: string;
        /** @description Only what is of this kind. */
        kind: "access" | "closing" | "job" | "member" | "request" | "webhook";
        /** @description How many items at most. */
        limit: number;
        /** @description The organization. */
        org: string;
        /** @description The month, such as `2026-10`. */
        period: string;
        /** @description Only this month's. */
        period_filter: string;
        /** @description Only those that stand in their month's statement, or will in the instant in which it is closed; or only the others. */
        processed: boolean;
        /** @description Only those with this text in title or description, without regard to case. Literal: `%` and `_` are characters. */
        q: string;
        /** @description Only what happened to this request. */
        request_id: string;
        /** @description Only those in this status. */
        status: "draft" | "pending" | "approved" | "rejected" | "returned" | "withdrawn";
        /** @description Only what occurred before this time. Fixed when a walk or export begins, and never later than then, so that none meets its own trace. */
        to: string;
        /** @description Only those whose last change was at this time or later; from 1970 to 2199. A `+` in it must be percent-encoded. */
        updated_since: string;
        /** @description The member's user id. */
        user: string;
        /** @description The member that an administrator asks about; the caller when left out. */
        user_id: string;
        /** @description A version of the request. */
        version: number;
        /** @description The version that the author saw. */
        version_filter: number;
        /** @description `mine`: those that the caller applies for. `inbox`: exactly those that the caller could decide now. `all`: those that the caller may see. */
        view: "mine" | "inbox" | "all";
        /** @description The webhook. */
        webhook: string;
    };
    requestBodies: never;
    headers: {
        /** @description The methods that the path knows. */
        Allow: string;
        /** @description Of a stream: the name to save it under. */
        "Content-Disposition": string;
        /** @description Opaque: names this very answer, the caller's rights included. For `If-None-Match`; a write takes the `version`, not this. */
        ETag: string;
        /** @description There when this is the first call's answer again, and nothing was done now. */
        "Idempotency-Replayed": "true";
        /** @description The path of what was made. */
        Location: string;
        /** @description Seconds to wait before sending it again. */
        "Retry-After": number;
        /** @description `Bearer`, and what is wrong (RFC 6750). */
        "WWW-Authenticate": string;
        /** @description The id of this call, the caller's or a new one; the same as `request_id` in a problem and in the log. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type Action = components['schemas']['Action'];
export type Blocked = components['schemas']['Blocked'];
export type Break = components['schemas']['Break'];
export type Charge = components['schemas']['Charge'];
export type ChargeContent = components['schemas']['ChargeContent'];
export type ChargePage = components['schemas']['ChargePage'];
export type ClosedMonth = components['schemas']['ClosedMonth'];
export type Closing = components['schemas']['Closing'];
export type ClosingState = components['schemas']['ClosingState'];
export type ConfirmedCharge = components['schemas']['ConfirmedCharge'];
export type Counts = components['schemas']['Counts'];
export type CountsByStatus = components['schemas']['CountsByStatus'];
export type Current = components['schemas']['Current'];
export type DemoPerson = components['schemas']['DemoPerson'];
export type DemoToken = components['schemas']['DemoToken'];
export type Eligibility = components['schemas']['Eligibility'];
export type EligibleAction = components['schemas']['EligibleAction'];
export type Exclusion = components['schemas']['Exclusion'];
export type Health = components['schemas']['Health'];
export type HistoryEntry = components['schemas']['HistoryEntry'];
export type HistoryPage = components['schemas']['HistoryPage'];
export type ImportResult = components['schemas']['ImportResult'];
export type Imported = components['schemas']['Imported'];
export type ImportedRow = components['schemas']['ImportedRow'];
export type InboxCount = components['schemas']['InboxCount'];
export type Invitation = components['schemas']['Invitation'];
export type InvitationPage = components['schemas']['InvitationPage'];
export type InvitationState = components['schemas']['InvitationState'];
export type InvitationToken = components['schemas']['InvitationToken'];
export type JobState = components['schemas']['JobState'];
export type Language = components['schemas']['Language'];
export type MailWish = components['schemas']['MailWish'];
export type Me = components['schemas']['Me'];
export type Member = components['schemas']['Member'];
export type MemberChange = components['schemas']['MemberChange'];
export type MemberPage = components['schemas']['MemberPage'];
export type Membership = components['schemas']['Membership'];
export type NewCharge = components['schemas']['NewCharge'];
export type NewCharges = components['schemas']['NewCharges'];
export type NewInvitation = components['schemas']['NewInvitation'];
export type NewMember = components['schemas']['NewMember'];
export type NewRequest = components['schemas']['NewRequest'];
export type NewWebhook = components['schemas']['NewWebhook'];
export type Nothing = components['schemas']['Nothing'];
export type OrganizationHistoryEntry = components['schemas']['OrganizationHistoryEntry'];
export type OrganizationHistoryPage = components['schemas']['OrganizationHistoryPage'];
export type OwnMail = components['schemas']['OwnMail'];
export type Person = components['schemas']['Person'];
export type Problem = components['schemas']['Problem'];
export type Processing = components['schemas']['Processing'];
export type Replay = components['schemas']['Replay'];
export type Request = components['schemas']['Request'];
export type RequestContent = components['schemas']['RequestContent'];
export type RequestPage = components['schemas']['RequestPage'];
export type RequestVersion = components['schemas']['RequestVersion'];
export type Rotation = components['schemas']['Rotation'];
export type RowFault = components['schemas']['RowFault'];
export type Seen = components['schemas']['Seen'];
export type SeenAndNeededReason = components['schemas']['SeenAndNeededReason'];
export type SeenAndReason = components['schemas']['SeenAndReason'];
export type SignIn = components['schemas']['SignIn'];
export type SignInPerson = components['schemas']['SignInPerson'];
export type SignInProvider = components['schemas']['SignInProvider'];
export type Started = components['schemas']['Started'];
export type Statement = components['schemas']['Statement'];
export type Statements = components['schemas']['Statements'];
export type Status = components['schemas']['Status'];
export type Total = components['schemas']['Total'];
export type Upcoming = components['schemas']['Upcoming'];
export type Verified = components['schemas']['Verified'];
export type Violation = components['schemas']['Violation'];
export type WaitingFor = components['schemas']['WaitingFor'];
export type Warning = components['schemas']['Warning'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookContent = components['schemas']['WebhookContent'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookDeliveryPage = components['schemas']['WebhookDeliveryPage'];
export type WebhookDeliveryResult = components['schemas']['WebhookDeliveryResult'];
export type WebhookPage = components['schemas']['WebhookPage'];
export type WebhookState = components['schemas']['WebhookState'];
export type ResponseNotModified = components['responses']['NotModified'];
export type ResponseBusy = components['responses']['busy'];
export type ResponseBusyOutcomeUnknown = components['responses']['busy.outcome_unknown'];
export type ResponseIdempotencyInProgress = components['responses']['idempotency_in_progress'];
export type ResponseIdempotencyInProgressAlreadyAMember = components['responses']['idempotency_in_progress.already_a_member'];
export type ResponseIdempotencyInProgressChargeChangedPeriodClosed = components['responses']['idempotency_in_progress.charge_changed.period_closed'];
export type ResponseIdempotencyInProgressInvitationNotOpen = components['responses']['idempotency_in_progress.invitation_not_open'];
export type ResponseIdempotencyInProgressInvitationNotOpenAlreadyAMember = components['responses']['idempotency_in_progress.invitation_not_open.already_a_member'];
export type ResponseIdempotencyInProgressLastAdminMemberChanged = components['responses']['idempotency_in_progress.last_admin.member_changed'];
export type ResponseIdempotencyInProgressMailNotConfigured = components['responses']['idempotency_in_progress.mail_not_configured'];
export type ResponseIdempotencyInProgressPeriodNotOver = components['responses']['idempotency_in_progress.period_not_over'];
export type ResponseIdempotencyInProgressTooManyWebhooksWebhooksNotConfigured = components['responses']['idempotency_in_progress.too_many_webhooks.webhooks_not_configured'];
export type ResponseIdempotencyInProgressWebhookChangedWebhooksNotConfigured = components['responses']['idempotency_in_progress.webhook_changed.webhooks_not_configured'];
export type ResponseInternal = components['responses']['internal'];
export type ResponseInvalidQuery = components['responses']['invalid_query'];
export type ResponseInvalidQueryInvalidPath = components['responses']['invalid_query.invalid_path'];
export type ResponseInvalidTransitionIdempotencyInProgress = components['responses']['invalid_transition.idempotency_in_progress'];
export type ResponseInvalidTransitionIdempotencyInProgressMailNotConfigured = components['responses']['invalid_transition.idempotency_in_progress.mail_not_configured'];
export type ResponseInvalidTransitionIdempotencyInProgressProcessingNotConfigured = components['responses']['invalid_transition.idempotency_in_progress.processing_not_configured'];
export type ResponseMalformedJson = components['responses']['malformed_json'];
export type ResponseMalformedJsonInvalidQueryInvalidIdempotencyKey = components['responses']['malformed_json.invalid_query.invalid_idempotency_key'];
export type ResponseMalformedJsonInvalidQueryInvalidPathInvalidIdempotencyKey = components['responses']['malformed_json.invalid_query.invalid_path.invalid_idempotency_key'];
export type ResponseMethodNotAllowed = components['responses']['method_not_allowed'];
export type ResponseNotAMember = components['responses']['not_a_member'];
export type ResponseNotAMemberForbidden = components['responses']['not_a_member.forbidden'];
export type ResponseNotAMemberForbiddenSelfApprovalForbidden = components['responses']['not_a_member.forbidden.self_approval_forbidden'];
export type ResponseNotAcceptable = components['responses']['not_acceptable'];
export type ResponseNotFound = components['responses']['not_found'];
export type ResponsePayloadTooLarge = components['responses']['payload_too_large'];
export type ResponseRateLimited = components['responses']['rate_limited'];
export type ResponseRequestChangedInvalidTransitionIdempotencyInProgress = components['responses']['request_changed.invalid_transition.idempotency_in_progress'];
export type ResponseRequestTimeout = components['responses']['request_timeout'];
export type ResponseUnauthenticated = components['responses']['unauthenticated'];
export type ResponseUnsupportedMediaType = components['responses']['unsupported_media_type'];
export type ResponseValidationFailedUnknownField = components['responses']['validation_failed.unknown_field'];
export type ResponseValidationFailedUnknownFieldIdempotencyKeyReused = components['responses']['validation_failed.unknown_field.idempotency_key_reused'];
export type ResponseValidationFailedUnknownFieldVersionRequiredIdempotencyKeyReused = components['responses']['validation_failed.unknown_field.version_required.idempotency_key_reused'];
export type ResponseVersionRequired = components['responses']['version_required'];
export type ResponseWebhookChanged = components['responses']['webhook_changed'];
export type ParameterIdempotencyKey = components['parameters']['Idempotency-Key'];
export type ParameterIfNoneMatch = components['parameters']['If-None-Match'];
export type ParameterLastEventId = components['parameters']['Last-Event-ID'];
export type ParameterXRequestId = components['parameters']['X-Request-Id'];
export type ParameterAction = components['parameters']['action'];
export type ParameterActorId = components['parameters']['actor_id'];
export type ParameterApplicantId = components['parameters']['applicant_id'];
export type ParameterCharge = components['parameters']['charge'];
export type ParameterCursor = components['parameters']['cursor'];
export type ParameterFrom = components['parameters']['from'];
export type ParameterId = components['parameters']['id'];
export type ParameterInvitation = components['parameters']['invitation'];
export type ParameterKind = components['parameters']['kind'];
export type ParameterLimit = components['parameters']['limit'];
export type ParameterOrg = components['parameters']['org'];
export type ParameterPeriod = components['parameters']['period'];
export type ParameterPeriodFilter = components['parameters']['period_filter'];
export type ParameterProcessed = components['parameters']['processed'];
export type ParameterQ = components['parameters']['q'];
export type ParameterRequestId = components['parameters']['request_id'];
export type ParameterStatus = components['parameters']['status'];
export type ParameterTo = components['parameters']['to'];
export type ParameterUpdatedSince = components['parameters']['updated_since'];
export type ParameterUser = components['parameters']['user'];
export type ParameterUserId = components['parameters']['user_id'];
export type ParameterVersion = components['parameters']['version'];
export type ParameterVersionFilter = components['parameters']['version_filter'];
export type ParameterView = components['parameters']['view'];
export type ParameterWebhook = components['parameters']['webhook'];
export type HeaderAllow = components['headers']['Allow'];
export type HeaderContentDisposition = components['headers']['Content-Disposition'];
export type HeaderETag = components['headers']['ETag'];
export type HeaderIdempotencyReplayed = components['headers']['Idempotency-Replayed'];
export type HeaderLocation = components['headers']['Location'];
export type HeaderRetryAfter = components['headers']['Retry-After'];
export type HeaderWwwAuthenticate = components['headers']['WWW-Authenticate'];
export type HeaderXRequestId = components['headers']['X-Request-Id'];
export type $defs = Record<string, never>;
export interface operations {
    getIndex: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationToken"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.invitation_not_open.already_a_member"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query"];
            401: components["responses"]["unauthenticated"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    listCharges: {
        parameters: {
            query?: {
                /** @description Only this month's. */
                period?: components["parameters"]["period_filter"];
                /** @description Only those that stand in their month's statement, or will in the instant in which it is closed; or only the others. */
                processed?: components["parameters"]["processed"];
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChargePage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    importCharges: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCharges"];
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description All are there now. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"];
                };
            };
            /** @description Some rows were refused. */
            207: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getCharge: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The charge. */
                charge: components["parameters"]["charge"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    correctCharge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The charge. */
                charge: components["parameters"]["charge"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChargeContent"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Charge"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.charge_changed.period_closed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getClosing: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The month, such as `2026-10`. */
                period: components["parameters"]["period"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Closing"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    startClosing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The month, such as `2026-10`. */
                period: components["parameters"]["period"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description Begun or done before. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Closing"];
                };
            };
            /** @description Begun by this call. */
            202: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Closing"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.period_not_over"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    excludeCharge: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The month, such as `2026-10`. */
                period: components["parameters"]["period"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Exclusion"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Closing"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    listenToEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description The last `id` that the caller has heard: what came after it is told first. Without it, what happens from now on. */
                "Last-Event-ID"?: components["parameters"]["Last-Event-ID"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            406: components["responses"]["not_acceptable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    inspectHistory: {
        parameters: {
            query?: {
                /** @description Only what happened to this request. */
                request_id?: components["parameters"]["request_id"];
                /** @description Only what this person did. */
                actor_id?: components["parameters"]["actor_id"];
                /** @description Only this action. */
                action?: components["parameters"]["action"];
                /** @description Only what is of this kind. */
                kind?: components["parameters"]["kind"];
                /** @description Only what occurred at this time or later; from 1970 to 2199. */
                from?: components["parameters"]["from"];
                /** @description Only what occurred before this time. Fixed when a walk or export begins, and never later than then, so that none meets its own trace. */
                to?: components["parameters"]["to"];
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or the whole selection. */
            200: {
                headers: {
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationHistoryPage"];
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            406: components["responses"]["not_acceptable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    verifyHistory: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verified"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    invite: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The invitation. */
                invitation: components["parameters"]["invitation"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The invitation. */
                invitation: components["parameters"]["invitation"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.invitation_not_open"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getOwnMail: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnMail"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    setOwnMail: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailWish"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnMail"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.mail_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    askAgain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnMail"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invalid_transition.idempotency_in_progress.mail_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    addMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMember"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.already_a_member"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The member's user id. */
                user: components["parameters"]["user"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    changeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The member's user id. */
                user: components["parameters"]["user"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChange"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.last_admin.member_changed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    pseudonymizeMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The member's user id. */
                user: components["parameters"]["user"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Seen"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.last_admin.member_changed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description `mine`: those that the caller applies for. `inbox`: exactly those that the caller could decide now. `all`: those that the caller may see. */
                view?: components["parameters"]["view"];
                /** @description Only those in this status. */
                status?: components["parameters"]["status"];
                /** @description Only those of this applicant. */
                applicant_id?: components["parameters"]["applicant_id"];
                /** @description Only those with this text in title or description, without regard to case. Literal: `%` and `_` are characters. */
                q?: components["parameters"]["q"];
                /** @description Only those whose last change was at this time or later; from 1970 to 2199. A `+` in it must be percent-encoded. */
                updated_since?: components["parameters"]["updated_since"];
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    createRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRequest"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    countRequests: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Counts"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    getRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    editRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequestContent"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    approveRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeenAndReason"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden.self_approval_forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getEligibility: {
        parameters: {
            query?: {
                /** @description The member that an administrator asks about; the caller when left out. */
                user_id?: components["parameters"]["user_id"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Eligibility"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    getRequestHistory: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    verifyRequestHistory: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verified"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    getProcessing: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Processing"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    startProcessing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description Begun or done before. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Started"];
                };
            };
            /** @description Begun by this call. */
            202: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Started"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invalid_transition.idempotency_in_progress.processing_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    cancelProcessing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Processing"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    rejectRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeenAndNeededReason"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden.self_approval_forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    sendBackRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeenAndNeededReason"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden.self_approval_forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    submitRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Seen"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getRequestVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
                /** @description A version of the request. */
                version: components["parameters"]["version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestVersion"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    withdrawRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The request. */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeenAndReason"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["request_changed.invalid_transition.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    listStatements: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statements"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    getStatement: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The month, such as `2026-10`. */
                period: components["parameters"]["period"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or the whole selection. */
            200: {
                headers: {
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            406: components["responses"]["not_acceptable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    addWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.too_many_webhooks.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description An `ETag` that the caller has: 304 when it is still the same. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookContent"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.webhook_changed.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    deleteWebhook: {
        parameters: {
            query: {
                /** @description The version that the author saw. */
                version: components["parameters"]["version_filter"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            409: components["responses"]["webhook_changed"];
            422: components["responses"]["version_required"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["limit"];
                /** @description The `next_cursor` of the page before, under the same filters. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            400: components["responses"]["invalid_query.invalid_path"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy"];
        };
    };
    disableWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Seen"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.webhook_changed.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    enableWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Seen"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.webhook_changed.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Replay"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.webhook_changed.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names this intent, so that it can be sent again safely: see Idempotency. 1 to 255 visible ASCII characters, with or without quotes. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path: {
                /** @description The organization. */
                org: components["parameters"]["org"];
                /** @description The webhook. */
                webhook: components["parameters"]["webhook"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rotation"];
            };
        };
        responses: {
            /** @description Done; as it stands now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["malformed_json.invalid_query.invalid_path.invalid_idempotency_key"];
            401: components["responses"]["unauthenticated"];
            403: components["responses"]["not_a_member.forbidden"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_in_progress.webhook_changed.webhooks_not_configured"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field.version_required.idempotency_key_reused"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
            503: components["responses"]["busy.outcome_unknown"];
        };
    };
    getSignIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignIn"];
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    signInToDemo: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DemoPerson"];
            };
        };
        responses: {
            /** @description As asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DemoToken"];
                };
            };
            400: components["responses"]["malformed_json"];
            404: components["responses"]["not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["validation_failed.unknown_field"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            405: components["responses"]["method_not_allowed"];
            500: components["responses"]["internal"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            405: components["responses"]["method_not_allowed"];
            500: components["responses"]["internal"];
            /** @description No: send requests elsewhere. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getInvitationPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getMailConfirmation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link does nothing (any more). */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    confirmMail: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link does nothing (any more). */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getMailUnsubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link does nothing (any more). */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    unsubscribeFromMail: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link does nothing (any more). */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: {
                /** @description The caller's id for this call, of the form `[A-Za-z0-9._:-]{1,128}`. Any other is replaced, not refused. */
                "X-Request-Id"?: components["parameters"]["X-Request-Id"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal"];
        };
    };
}
