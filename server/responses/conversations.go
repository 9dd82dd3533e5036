package responses

import (
	"encoding/json/jsontext"
	"net/http"
	"slices"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
	"github.com/parlance-llm/parlance/server/store"
)

// conversation is a conversation as the interface shows it.
type conversation struct {
	ID        string         `json:"id"`
	Object    string         `json:"object"`
	CreatedAt int64          `json:"created_at"`
	Metadata  jsontext.Value `json:"metadata"`
}

func shownConversation(c *store.Conversation) conversation {
	return conversation{c.ID, "conversation", c.Created.Unix(), c.Metadata}
}

// CreateConversation answers POST /v1/conversations.
func (h *Handler) CreateConversation() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		o, err := body.Read(r, h.Settings.BodyLimit)
		if err != nil {
			return err
		}
		items, err := readItems(o)
		if err != nil {
			return err
		}
		c := &store.Conversation{ID: generate.NewID("conv_"), Created: time.Now(), Metadata: []byte("{}")}
		if readMetadata(o) {
			c.Metadata = o.Raw("metadata")
		}
		if err := o.Err(); err != nil {
			return err
		}
		if err := h.Store.PutConversation(r.Context(), c); err != nil {
			return stored(err, "conversation", c.ID)
		}
		if err := h.Store.AddItems(r.Context(), c.ID, items); err != nil {
			return stored(err, "conversation", c.ID)
		}
		return answer(w, shownConversation(c))
	})
}

// readItems reads a list of items, and checks that they can be translated.
func readItems(o *body.Object) ([]store.Item, error) {
	r := &Request{given: o}
	values, _ := body.Elements(o.Raw("items"))
	for i, item := range o.Objects("items") {
		if item != nil {
			r.input = append(r.input, itemOf(values[i]))
		}
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return r.input, r.translate("items")
}

// readMetadata reads metadata: texts under names. It tells whether there is any.
func readMetadata(o *body.Object) bool {
	metadata := o.Object("metadata")
	if metadata == nil {
		return false
	}
	for _, name := range metadata.Names() {
		metadata.String(name)
	}
	return true
}

// Conversation answers GET and POST /v1/conversations/{id}; the second changes the metadata.
func (h *Handler) Conversation() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		c, err := h.Store.Conversation(r.Context(), id)
		if err != nil {
			return stored(err, "conversation", id)
		}
		if r.Method == http.MethodPost {
			o, err := body.Read(r, h.Settings.BodyLimit)
			if err != nil {
				return err
			}
			if o.Require("metadata") && readMetadata(o) {
				c.Metadata = o.Raw("metadata")
			}
			if err := o.Err(); err != nil {
				return err
			}
			if err := h.Store.PutConversation(r.Context(), c); err != nil {
				return stored(err, "conversation", id)
			}
		}
		return answer(w, shownConversation(c))
	})
}

// DeleteConversation answers DELETE /v1/conversations/{id}.
func (h *Handler) DeleteConversation() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		if err := h.Store.DeleteConversation(r.Context(), id); err != nil {
			return stored(err, "conversation", id)
		}
		return answer(w, deleted{id, "conversation.deleted", true})
	})
}

// ConversationItem answers GET /v1/conversations/{id}/items/{item}.
func (h *Handler) ConversationItem() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		id, wanted := r.PathValue("id"), r.PathValue("item")
		if _, err := h.Store.Conversation(r.Context(), id); err != nil {
			return stored(err, "conversation", id)
		}
		items, err := h.Store.Items(r.Context(), id)
		if err != nil {
			return stored(err, "conversation", id)
		}
		i := slices.IndexFunc(items, func(item store.Item) bool { return item.ID == wanted })
		if i < 0 {
			return stored(store.ErrNotFound, "item", wanted)
		}
		return answer(w, jsontext.Value(items[i].JSON))
	})
}

// DeleteConversationItem answers DELETE /v1/conversations/{id}/items/{item} with the conversation.
func (h *Handler) DeleteConversationItem() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		id, item := r.PathValue("id"), r.PathValue("item")
		c, err := h.Store.Conversation(r.Context(), id)
		if err != nil {
			return stored(err, "conversation", id)
		}
		if err := h.Store.DeleteItem(r.Context(), id, item); err != nil {
			return stored(err, "item", item)
		}
		return answer(w, shownConversation(c))
	})
}

// ConversationItems answers GET and POST /v1/conversations/{id}/items; the second adds items.
func (h *Handler) ConversationItems() http.Handler {
	return h.handleStored(func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		if _, err := h.Store.Conversation(r.Context(), id); err != nil {
			return stored(err, "conversation", id)
		}
		if r.Method == http.MethodGet {
			items, err := h.Store.Items(r.Context(), id)
			if err != nil {
				return stored(err, "conversation", id)
			}
			page, err := pageOf(r, items)
			if err != nil {
				return err
			}
			return answer(w, page)
		}
		o, err := body.Read(r, h.Settings.BodyLimit)
		if err != nil {
			return err
		}
		items, err := readItems(o)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return apierror.Invalidf("items", "expected at least one item")
		}
		if err := h.Store.AddItems(r.Context(), id, items); err != nil {
			return stored(err, "conversation", id)
		}
		page := &list{Object: "list", Data: []jsontext.Value{}}
		for _, item := range items {
			page.Data = append(page.Data, item.JSON)
		}
		page.First, page.Last = &items[0].ID, &items[len(items)-1].ID
		return answer(w, page)
	})
}
